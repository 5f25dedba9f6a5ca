package mariadb

// Hide keeps Debian's program from being found until show is called.
func Hide() (show func()) {
	program := debian
	debian = ""
	return func() { debian = program }
}
