package mariadb

// Hide keeps Debian's program from being found until show is called.
func Hide() (show func()) {
	program := debian
	debian = ""
	return func() { debian = program }
}

// With starts servers with more options until without is called.
func With(more ...string) (without func()) {
	options = more
	return func() { options = nil }
}
