package explore

// notes are what is to be shown of a schedule.
type notes struct{}

func (w *world) note(choice) {}
