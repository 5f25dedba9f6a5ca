package servers

import "errors"

var errNoSignals = errors.New("processes cannot be stopped on Windows; hint: leave this fault out")

func suspend(*child) error { return errNoSignals }

func resume(*child) error { return errNoSignals }
