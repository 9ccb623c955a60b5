package schemadump

// cursor goes through the tokens of a statement.
type cursor struct {
	list []token
	i    int
}

func (c *cursor) done() bool { return c.i >= len(c.list) }

// peek returns the next token, an empty one behind the last.
func (c *cursor) peek() token {
	if c.done() {
		return token{kind: sign}
	}
	return c.list[c.i]
}

func (c *cursor) rest() []token { return c.list[min(c.i, len(c.list)):] }

func (c *cursor) at(text string) bool { return c.peek().is(text) }

// take goes behind some key words or signs if they come next.
func (c *cursor) take(texts ...string) bool {
	for n, text := range texts {
		if c.i+n >= len(c.list) || !c.list[c.i+n].is(text) {
			return false
		}
	}
	c.i += len(texts)
	return true
}

// has says that some key words stand in what follows, not within parentheses.
func (c *cursor) has(texts ...string) bool {
	for at := (&cursor{list: c.list, i: c.i}); !at.done(); {
		switch {
		case at.at("("):
			at.inside()
		case at.take(texts...):
			return true
		default:
			at.i++
		}
	}
	return false
}

// name takes a name and leaves out the schema that it is in.
func (c *cursor) name() (name string, ok bool) {
	if !c.peek().isName() {
		return "", false
	}
	name = c.peek().text
	c.i++
	for c.at(".") {
		c.i++
		name = c.peek().text
		c.i++
	}
	return name, true
}

// inside takes what stands between the next parentheses; nil if none come next or they do not close.
func (c *cursor) inside() []token {
	if !c.at("(") {
		return nil
	}
	from, to := c.i+1, closing(c.list, c.i)
	if to < 0 {
		c.i = len(c.list)
		return nil
	}
	c.i = to + 1
	return c.list[from:to]
}

// commas cuts tokens at the commas that stand in no parentheses.
func commas(list []token) (parts [][]token) {
	from, depth := 0, 0
	for i, t := range list {
		switch {
		case t.is("("), t.is("["):
			depth++
		case t.is(")"), t.is("]"):
			depth--
		case t.is(",") && depth == 0:
			parts = append(parts, list[from:i])
			from = i + 1
		}
	}
	if from < len(list) {
		parts = append(parts, list[from:])
	}
	return parts
}

// names are those of a list of columns.
func names(list []token) (out []string) {
	for _, part := range commas(list) {
		if len(part) > 0 && part[0].isName() {
			out = append(out, part[0].text)
		}
	}
	return out
}
