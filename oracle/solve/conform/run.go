package conform

import (
	"context"
	"strings"
	"time"
)

// Plan says what a run does.
type Plan struct {
	Seed       uint64
	Systematic bool
	// Depth is the largest depth of an expression.
	Depth int
	// Kinds holds exprs, query, update, delete, insert, keyed, joined by commas;
	// strings and others choose the table's columns, mixed takes all in turn.
	Kinds string
	// Until and Compared, if not zero, end the run: at a time, or behind so many
	// compared statements.
	Until    time.Time
	Compared int
}

// Over tells whether the plan has come to its end.
func (p *Plan) Over(r *Report) bool {
	return p.Compared > 0 && r.Compared >= p.Compared || !p.Until.IsZero() && !time.Now().Before(p.Until)
}

const tableName = "t"

// Run makes rounds of statements, each on a fresh table, until the plan ends.
func Run(ctx context.Context, c *Checker, p Plan) error {
	if p.Systematic {
		g := NewGenerator(p.Seed)
		g.stringy = 0
		if err := c.Fill(ctx, tableName, g.Create(tableName, ""), g.Insert(tableName, 14)); err != nil {
			return err
		}
		if err := c.Exprs(ctx, tableName, g.Systematic()); err != nil {
			return err
		}
	}
	if p.Systematic {
		create, insert, queries := Letters("p")
		if err := c.Fill(ctx, "p", create, insert); err != nil {
			return err
		}
		for _, q := range queries {
			if err := c.Query(ctx, q); err != nil {
				return err
			}
		}
	}
	mixed := strings.Contains(p.Kinds, "mixed")
	for round := uint64(0); !p.Over(&c.Report); round++ {
		g := NewGenerator(p.Seed + round)
		if round%2 == 1 {
			g.stringy = 0
		}
		keys := pick(g, []string{"", ", KEY (i)", ", KEY (v), KEY (iu, j)", ", KEY (b), KEY (d)"})
		if strings.Contains(p.Kinds, "strings") || mixed && round%3 == 1 {
			g.UseStrings()
			keys = pick(g, []string{"", ", KEY (ch)", ", KEY (v), KEY (vb)"})
		}
		if strings.Contains(p.Kinds, "others") || mixed && round%3 == 2 {
			g.UseOthers()
			keys = pick(g, []string{"", ", KEY (en), KEY (da)", ", KEY (y), KEY (ts), KEY (bi)", ", KEY (fl), KEY (st), KEY (tm), KEY (bn)"})
		}
		if err := c.Fill(ctx, tableName, g.Create(tableName, keys), g.Insert(tableName, 8)); err != nil {
			return err
		}
		if err := c.round(ctx, g, p); err != nil {
			return err
		}
	}
	return nil
}

func (c *Checker) round(ctx context.Context, g *Generator, p Plan) error {
	has := func(kind string) bool { return strings.Contains(","+p.Kinds+",", ","+kind+",") }
	if has("exprs") {
		list := make([]string, 120)
		for i := range list {
			list[i] = g.Expr(1 + g.r.IntN(p.Depth))
		}
		if err := c.Exprs(ctx, tableName, list); err != nil {
			return err
		}
	}
	if has("keyed") {
		create, insert := g.Keyed("u")
		if err := c.Fill(ctx, "u", create, insert); err != nil {
			return err
		}
		for i := 0; i < 60; i++ {
			if err := c.Write(ctx, "u", g.KeyedWrite("u")); err != nil {
				return err
			}
		}
	}
	for i := 0; i < 25 && p.Kinds != "keyed"; i++ {
		for _, k := range []struct {
			kind string
			run  func() error
		}{
			{"query", func() error { return c.Query(ctx, g.Query(tableName)) }},
			{"query", func() error {
				return c.Query(ctx, "SELECT id FROM "+tableName+" WHERE "+g.Cond()+" ORDER BY id")
			}},
			{"update", func() error { return c.Write(ctx, tableName, g.Update(tableName)) }},
			{"delete", func() error { return c.Write(ctx, tableName, g.Delete(tableName)) }},
			{"insert", func() error { return c.Write(ctx, tableName, g.InsertOne(tableName)) }},
		} {
			if has(k.kind) {
				if err := k.run(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
