package stepserver

import (
	"slices"
	"strings"
)

// refusal returns the error for a command that a connection with subscriptions may not send.
func (c *conn) refusal(s *spec) string {
	if c.listening() == 0 || c.peer.Resp3 {
		return ""
	}
	switch s.name {
	case "SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "PING", "QUIT", "RESET":
		return ""
	}
	return "-ERR Can't execute '" + strings.ToLower(s.name) + "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context\r\n"
}

// pong returns the reply to a PING on a connection with subscriptions.
func pong(args []string) []byte {
	if len(args) > 2 {
		return wrongNumber("ping")
	}
	return appendBulk(appendBulk(appendLen(nil, '*', 2), "pong"), strings.Join(args[1:], ""))
}

func (c *conn) listening() int { return len(c.channels) + len(c.patterns) }

// message executes the commands of publish and subscribe.
func (s *Server) message(c *conn, args []string, e *Effect) []byte {
	verb := strings.ToLower(args[0])
	switch {
	case verb == "publish" && len(args) == 3:
		return appendInt(nil, s.publish(args[1], args[2], e))
	case verb == "pubsub" && len(args) > 1:
		e.reads(Everything)
		return s.introspect(args)
	case verb == "subscribe" && len(args) > 1:
		return c.subscribe(verb, &c.channels, args[1:], e)
	case verb == "psubscribe" && len(args) > 1:
		return c.subscribe(verb, &c.patterns, args[1:], e)
	case verb == "unsubscribe":
		return c.unsubscribe(verb, &c.channels, args[1:], e)
	case verb == "punsubscribe":
		return c.unsubscribe(verb, &c.patterns, args[1:], e)
	}
	return wrongNumber(verb)
}

// listens adds the writes of a change of subscriptions to e.
func listens(verb string, names []string, e *Effect) {
	if strings.HasPrefix(verb, "p") {
		e.writes(patterns)
		return
	}
	for _, n := range names {
		e.writes(channelName(n))
	}
}

func (c *conn) subscribe(verb string, to *[]string, names []string, e *Effect) (reply []byte) {
	listens(verb, names, e)
	for _, n := range names {
		*to = add(*to, []string{n})
		reply = c.confirm(reply, verb, n)
	}
	return reply
}

func (c *conn) unsubscribe(verb string, from *[]string, names []string, e *Effect) (reply []byte) {
	if len(names) == 0 {
		names = slices.Clone(*from)
	}
	listens(verb, names, e)
	for _, n := range names {
		*from = slices.DeleteFunc(*from, func(o string) bool { return o == n })
		reply = c.confirm(reply, verb, n)
	}
	if len(names) == 0 {
		reply = appendBulk(c.push(nil, 3), verb)
		reply = appendInt(append(reply, "$-1\r\n"...), c.listening())
	}
	return reply
}

// confirm appends the reply to a subscription or its end, with the number of subscriptions.
func (c *conn) confirm(reply []byte, verb, name string) []byte {
	reply = appendBulk(appendBulk(c.push(reply, 3), verb), name)
	return appendInt(reply, c.listening())
}

// push begins a message that is not a reply, which has a type of its own in RESP3.
func (c *conn) push(b []byte, n int) []byte {
	if c.peer.Resp3 {
		return appendLen(b, '>', n)
	}
	return appendLen(b, '*', n)
}

// publish sends text to all listeners, in the order of the connections, and
// returns the number of messages.
func (s *Server) publish(channel, text string, e *Effect) (sent int) {
	e.reads(channelName(channel), patterns)
	for _, c := range s.conns {
		n := c.hear(channel, text)
		if n > 0 {
			e.wakes(c.process)
		}
		sent += n
	}
	return sent
}

// hear sends a message to the client, once for the channel and once for each pattern that matches.
func (c *conn) hear(channel, text string) (n int) {
	if slices.Contains(c.channels, channel) {
		c.send(appendBulk(appendBulk(appendBulk(c.push(nil, 3), "message"), channel), text))
		n++
	}
	for _, p := range c.patterns {
		if glob(p, channel) {
			m := appendBulk(appendBulk(c.push(nil, 4), "pmessage"), p)
			c.send(appendBulk(appendBulk(m, channel), text))
			n++
		}
	}
	return n
}

// introspect executes PUBSUB.
func (s *Server) introspect(args []string) (reply []byte) {
	switch verb := strings.ToLower(args[1]); {
	case verb == "channels" && len(args) <= 3:
		names := s.listenedTo(args[2:])
		reply = appendLen(nil, '*', len(names))
		for _, n := range names {
			reply = appendBulk(reply, n)
		}
		return reply
	case verb == "numsub":
		reply = appendLen(nil, '*', 2*len(args[2:]))
		for _, n := range args[2:] {
			reply = appendInt(appendBulk(reply, n), s.listeners(n))
		}
		return reply
	case verb == "numpat" && len(args) == 2:
		var all []string
		for _, c := range s.conns {
			all = add(all, c.patterns)
		}
		return appendInt(nil, len(all))
	}
	return []byte("-ERR unknown subcommand or wrong number of arguments for '" + args[1] + "'. Try PUBSUB HELP.\r\n")
}

// listenedTo returns the channels that match the pattern, if there is one, sorted.
func (s *Server) listenedTo(pattern []string) (names []string) {
	for _, c := range s.conns {
		for _, n := range c.channels {
			if len(pattern) == 0 || glob(pattern[0], n) {
				names = add(names, []string{n})
			}
		}
	}
	slices.Sort(names)
	return names
}

func (s *Server) listeners(channel string) (n int) {
	for _, c := range s.conns {
		if slices.Contains(c.channels, channel) {
			n++
		}
	}
	return n
}
