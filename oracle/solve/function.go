package solve

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// function is one deterministic function: how many arguments it takes, and how
// a call is compiled.
type function struct {
	min, max int
	compile  func(c *compiler, args []expr) (expr, error)
}

// variadic is the largest number of arguments of a function without a limit.
const variadic = 1 << 10

// functions are those of strings and numbers; the ones of dates are in
// calendar.go. The manuals describe them alike:
// https://dev.mysql.com/doc/refman/9.7/en/string-functions.html
// https://dev.mysql.com/doc/refman/9.7/en/mathematical-functions.html
var functions = map[string]function{
	"concat":           {1, variadic, textOf(strings.Join)},
	"concat_ws":        {2, variadic, (*compiler).concatWS},
	"upper":            {1, 1, cased(strings.ToUpper)},
	"ucase":            {1, 1, cased(strings.ToUpper)},
	"lower":            {1, 1, cased(strings.ToLower)},
	"lcase":            {1, 1, cased(strings.ToLower)},
	"trim":             {1, 1, mapped(func(s string) string { return strings.Trim(s, " ") })},
	"ltrim":            {1, 1, mapped(func(s string) string { return strings.TrimLeft(s, " ") })},
	"rtrim":            {1, 1, mapped(func(s string) string { return strings.TrimRight(s, " ") })},
	"reverse":          {1, 1, mapped(reversed)},
	"left":             {2, 2, cut(func(s string, n int64) string { return s[:within(n, s)] })},
	"right":            {2, 2, cut(func(s string, n int64) string { return s[len(s)-within(n, s):] })},
	"repeat":           {2, 2, (*compiler).repeat},
	"substring":        {2, 3, (*compiler).substring},
	"substr":           {2, 3, (*compiler).substring},
	"mid":              {3, 3, (*compiler).substring},
	"replace":          {3, 3, (*compiler).replace},
	"lpad":             {3, 3, padded(func(s, pad string) string { return pad + s })},
	"rpad":             {3, 3, padded(func(s, pad string) string { return s + pad })},
	"length":           {1, 1, measured(func(s string) int64 { return int64(len(s)) })},
	"octet_length":     {1, 1, measured(func(s string) int64 { return int64(len(s)) })},
	"char_length":      {1, 1, measured(func(s string) int64 { return int64(len(s)) })},
	"character_length": {1, 1, measured(func(s string) int64 { return int64(len(s)) })},
	"ascii":            {1, 1, measured(firstByte)},
	"ord":              {1, 1, measured(firstByte)},
	"crc32":            {1, 1, (*compiler).crc32},
	"instr":            {2, 2, func(c *compiler, a []expr) (expr, error) { return c.locate(a[1], a[0]) }},
	"locate":           {2, 2, func(c *compiler, a []expr) (expr, error) { return c.locate(a[0], a[1]) }},
	"strcmp":           {2, 2, (*compiler).strcmp},
	"abs":              {1, 1, (*compiler).abs},
	"sign":             {1, 1, (*compiler).sign},
	"floor":            {1, 1, (*compiler).floor},
	"ceil":             {1, 1, (*compiler).ceil},
	"ceiling":          {1, 1, (*compiler).ceil},
	"round":            {1, 2, (*compiler).round},
	"truncate":         {2, 2, (*compiler).truncate},
	"sqrt":             {1, 1, (*compiler).sqrt},
	"bit_count":        {1, 1, (*compiler).bitCount},
	"greatest":         {2, variadic, func(c *compiler, a []expr) (expr, error) { return c.greatest(a, opcode.GT) }},
	"least":            {2, variadic, func(c *compiler, a []expr) (expr, error) { return c.greatest(a, opcode.LT) }},
}

// textArg returns an accessor for an argument as text in ASCII.
func (c *compiler) textArg(e expr) func(*frame) (string, bool) {
	x := c.text(e)
	return func(f *frame) (string, bool) {
		s, null := x(f)
		for i := 0; i < len(s) && !null; i++ {
			if s[i] >= 0x80 {
				f.refuse("function of text beyond ASCII")
				break
			}
		}
		return s, null
	}
}

// textResult returns the type of a text made of some arguments.
func (c *compiler) textResult(args ...expr) (Type, error) {
	t := Type{Class: NullClass}
	for _, a := range args {
		if a.typ.Class == NullClass {
			continue
		}
		u := c.textType(a.typ)
		if t.Class == NullClass {
			t = u
			continue
		}
		var err error
		if t, err = combine(t, u); err != nil {
			return t, err
		}
	}
	if t.Class == NullClass {
		t = Type{Class: StringClass, Collation: c.d.connection()}
	}
	t.Fixed, t.Blob, t.Length = false, false, 1<<16
	return t, nil
}

// textFunction compiles a function that makes a text of texts.
func (c *compiler) textFunction(args []expr, make func(f *frame, s []string) (string, bool)) (expr, error) {
	t, err := c.textResult(args...)
	if err != nil {
		return expr{}, err
	}
	xs := c.textArgs(args)
	return expr{typ: t, konst: allKonst(args), computed: true, eval: func(f *frame) sqlvalue.Value {
		s, null := textsOf(f, xs)
		if null || f.err != nil {
			return sqlvalue.Value{}
		}
		out, null := make(f, s)
		if null {
			return sqlvalue.Value{}
		}
		return t.string(out)
	}}, nil
}

// string returns a string of the type: bytes, or characters.
func (t Type) string(s string) sqlvalue.Value {
	if t.Binary {
		return sqlvalue.NewBytes(s)
	}
	return sqlvalue.NewString(s)
}

func (c *compiler) textArgs(args []expr) []func(*frame) (string, bool) {
	xs := make([]func(*frame) (string, bool), len(args))
	for i, a := range args {
		xs[i] = c.textArg(a)
	}
	return xs
}

// textsOf evaluates all arguments: an error behind a NULL is not certain.
func textsOf(f *frame, xs []func(*frame) (string, bool)) (s []string, null bool) {
	for i, x := range xs {
		if null {
			f.beside(asValue(x))
			continue
		}
		one, isNull := x(f)
		if isSQL(f.err) && f.hidesError(xs[i+1:]) {
			f.err = &Unsupported{"error in an operand beside NULL"}
		}
		if f.err != nil {
			return nil, false
		}
		s, null = append(s, one), isNull
	}
	return s, null
}

// hidesError reports whether one of the arguments behind one that fails is NULL: a server that
// evaluates it first never comes to the error.
func (f *frame) hidesError(rest []func(*frame) (string, bool)) bool {
	defer func(failed error, warnings int) { f.err, f.warnings = failed, warnings }(f.err, f.warnings)
	return slices.ContainsFunc(rest, func(x func(*frame) (string, bool)) bool {
		f.err = nil
		_, null := x(f)
		return null
	})
}

func textOf(join func([]string, string) string) func(*compiler, []expr) (expr, error) {
	return func(c *compiler, args []expr) (expr, error) {
		return c.textFunction(args, func(_ *frame, s []string) (string, bool) { return join(s, ""), false })
	}
}
