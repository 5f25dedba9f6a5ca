package stepserver

// glob matches name against a Redis pattern: * ? [a-z] [^a-z] and \ for the next
// character as it is.
func glob(pattern, name string) bool {
	for pattern != "" {
		if pattern[0] == '*' {
			return globStar(pattern[1:], name)
		}
		if name == "" {
			return false
		}
		rest, ok := globOne(pattern, name[0])
		if !ok {
			return false
		}
		pattern, name = rest, name[1:]
	}
	return name == ""
}

func globStar(rest, name string) bool {
	for i := 0; i <= len(name); i++ {
		if glob(rest, name[i:]) {
			return true
		}
	}
	return false
}

// globOne matches one character against the first element of a pattern that does
// not begin with a star, and returns the rest of the pattern.
func globOne(pattern string, c byte) (rest string, ok bool) {
	switch {
	case pattern[0] == '?':
		return pattern[1:], true
	case pattern[0] == '[':
		return globClass(pattern[1:], c)
	case pattern[0] == '\\' && len(pattern) > 1:
		pattern = pattern[1:]
	}
	return pattern[1:], pattern[0] == c
}

// globClass matches one character against a class without its opening bracket.
func globClass(class string, c byte) (rest string, ok bool) {
	negated := class != "" && class[0] == '^'
	if negated {
		class = class[1:]
	}
	for class != "" && class[0] != ']' {
		if class[0] == '\\' && len(class) > 1 {
			class = class[1:]
		}
		low, high := class[0], class[0]
		if len(class) > 2 && class[1] == '-' {
			high = class[2]
			class = class[2:]
		}
		ok = ok || min(low, high) <= c && c <= max(low, high)
		class = class[1:]
	}
	if class != "" {
		class = class[1:]
	}
	return class, ok != negated
}
