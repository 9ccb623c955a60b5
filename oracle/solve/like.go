package solve

import (
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

func (c *compiler) like(n *ast.PatternLikeOrIlikeExpr) (expr, error) {
	if !n.IsLike {
		return expr{}, unsupported("ILIKE")
	}
	a, err := c.expr(n.Expr)
	if err != nil {
		return expr{}, err
	}
	b, err := c.expr(n.Pattern)
	if err != nil {
		return expr{}, err
	}
	if c.computedBits(a) && !b.typ.Binary || c.computedBits(b) && !a.typ.Binary {
		// Its bytes may be no text, which is error 3854.
		return expr{}, unsupported("LIKE of a computed bit string and text")
	}
	p, q := c.text(a), c.text(b)
	t, err := combine(c.textType(a.typ), c.textType(b.typ))
	if err != nil {
		return expr{}, err
	}
	col := t.Collation
	return boolExpr(a.konst && b.konst, func(f *frame) sqlvalue.Truth {
		s, null := p(f)
		if null {
			return sqlvalue.Unknown
		}
		pat, null := q(f)
		if null {
			return sqlvalue.Unknown
		}
		if !col.exact(s) || !col.exact(pat) {
			f.refuse("LIKE on text beyond ASCII")
			return sqlvalue.Unknown
		}
		return negateIf(n.Not, truthOf(match(s, pat, n.Escape, col.table())))
	}), nil
}

// match tells whether s matches a LIKE pattern: % any text, _ one character.
// w, if not nil, says which letters are equal. Trailing spaces count.
func match(s, pat string, escape byte, w *weights) bool {
	for pat != "" {
		c := pat[0]
		switch {
		case c == escape && escape != 0 && len(pat) > 1:
			pat = pat[1:]
			c = pat[0]
		case c == '%':
			for pat != "" && pat[0] == '%' {
				pat = pat[1:]
			}
			if pat == "" {
				return true
			}
			for i := 0; i <= len(s); i++ {
				if match(s[i:], pat, escape, w) {
					return true
				}
			}
			return false
		case c == '_':
			if s == "" {
				return false
			}
			_, n := utf8.DecodeRuneInString(s)
			s, pat = s[n:], pat[1:]
			continue
		}
		if s == "" {
			return false
		}
		if x := s[0]; x != c && (w == nil || w[x] != w[c]) {
			return false
		}
		s, pat = s[1:], pat[1:]
	}
	return s == ""
}
