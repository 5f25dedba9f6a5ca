package ui

import (
	tea "charm.land/bubbletea/v2"
)

// The assumed size of a terminal until it reports its own.
const (
	usualWidth  = 80
	usualHeight = 24
)

// model is the state of the view: the session, and the available room.
type model struct {
	session       Session
	width, height int
	// ending means that the user asked for the end, by interrupt.
	ending    bool
	interrupt func()
}

func newModel(interrupt func()) model {
	return model{width: usualWidth, height: usualHeight, interrupt: interrupt}
}

// Init implements tea.Model.
func (m model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case Session:
		m.session = msg
	case tea.WindowSizeMsg:
		if msg.Width > 0 && msg.Height > 0 {
			m.width, m.height = msg.Width, msg.Height
		}
	case tea.KeyPressMsg:
		return m.pressed(msg.String())
	}
	return m, nil
}

// pressed asks for the end once, however often the key is pressed.
func (m model) pressed(key string) (tea.Model, tea.Cmd) {
	if m.ending || key != "q" && key != "ctrl+c" {
		return m, nil
	}
	m.ending = true
	return m, func() tea.Msg {
		m.interrupt()
		return nil
	}
}

// View implements tea.Model.
func (m model) View() tea.View {
	v := tea.NewView(m.draw())
	v.AltScreen = true
	return v
}
