package sqlguard

import (
	"fmt"
	"strings"
)

// MaxLength bounds a statement, in bytes.
const MaxLength = 32 << 10

// reserved begins the names that are ours.
const reserved = "collie_"

// Statement is a statement that only reads. It is immutable and safe for concurrent use.
type Statement struct {
	sql     string // without comments and what ends it
	aliases map[string]bool
	used    map[string]bool // tables that it may name
	match   bool            // it may use MATCH
}

// Parse checks a statement. Errors are a *[Refused].
func Parse(sql string) (*Statement, error) {
	if len(sql) > MaxLength {
		return nil, refuse(fmt.Sprintf("the statement has %d bytes, more than %d", len(sql), MaxLength), "")
	}
	tokens, err := lex(sql)
	if err != nil {
		return nil, err
	}
	tokens, err = single(tokens)
	if err != nil {
		return nil, err
	}
	s := &Statement{aliases: map[string]bool{}, used: map[string]bool{}}
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.raw)
	}
	s.sql = strings.TrimSpace(b.String())
	if err := s.inspect(tokens); err != nil {
		return nil, err
	}
	return s, withTables(s.used["blocks_fts"], func(c *scratch) error {
		if err := c.accept(s); err != nil {
			return err
		}
		if err := c.allowed(s.sql); err != nil {
			return err
		}
		return c.affordable(s.Limited(1))
	})
}

// single leaves out what ends a statement, and refuses a second one.
func single(tokens []token) ([]token, error) {
	end := len(tokens)
	for end > 0 && (tokens[end-1].kind == space || tokens[end-1].is(";")) {
		end--
	}
	for _, t := range tokens[:end] {
		if t.is(";") {
			return nil, refuse("there is more than one statement", "send one SELECT at a time")
		}
	}
	return tokens[:end], nil
}

// inspect checks what SQLite's authorizer does not see: the first keyword, variables, the names
// of functions and of common table expressions.
func (s *Statement) inspect(tokens []token) error {
	var solid []token
	for _, t := range tokens {
		if t.kind != space {
			solid = append(solid, t)
		}
	}
	if len(solid) == 0 {
		return refuse("the statement is empty", "")
	}
	if first := solid[0]; !first.is("select") && !first.is("with") && !first.is("values") {
		return refuse("only SELECT is allowed, and this begins with "+clip(first.raw), "notes are changed with the block and document tools")
	}
	for i, t := range solid {
		name := strings.ToLower(t.name)
		switch {
		case t.kind == variable:
			return refuse("a statement takes no variables, and this has "+clip(t.raw), "write the value itself")
		case !t.named():
			continue
		case strings.HasPrefix(name, reserved):
			return refuseName()
		case isTable(name):
			s.used[name] = true
		}
		s.match = s.match || name == "match"
		if defines(solid, i) {
			if err := s.define(name); err != nil {
				return err
			}
			continue
		}
		if i+1 < len(solid) && solid[i+1].is("(") && !functions[name] && (t.kind == quoted || !before[name]) {
			return refuseFunction(t.raw)
		}
	}
	return nil
}

func refuseName() error { return refuse("names that begin with "+reserved+" are reserved", "") }

func refuseFunction(name string) error {
	return refuse("the function "+clip(name)+" is not allowed", "common functions of text, numbers, dates, JSON and aggregation are")
}

// define takes in the name of a common table expression.
func (s *Statement) define(name string) error {
	if isTable(name) {
		return refuse("WITH "+clip(name)+" hides the table of that name", "choose another name")
	}
	for _, begin := range []string{"sqlite_", "pragma_", "json_", "dbstat"} {
		if strings.HasPrefix(name, begin) {
			return refuse("WITH "+clip(name)+": names that begin with "+begin+" are SQLite's", "choose another name")
		}
	}
	s.aliases[name] = true
	return nil
}

// defines reports whether the token at i names a common table expression: name [(columns)] AS
// [[NOT] MATERIALIZED] (.
func defines(tokens []token, i int) bool {
	if i == 0 || !tokens[i-1].is("with") && !tokens[i-1].is("recursive") && !tokens[i-1].is(",") {
		return false
	}
	rest := tokens[i+1:]
	skip := func(s string) bool {
		if len(rest) > 0 && rest[0].is(s) {
			rest = rest[1:]
			return true
		}
		return false
	}
	if skip("(") {
		for len(rest) > 0 && (rest[0].named() || rest[0].is(",")) {
			rest = rest[1:]
		}
		if !skip(")") {
			return false
		}
	}
	if !skip("as") {
		return false
	}
	if skip("not") && !skip("materialized") {
		return false
	}
	skip("materialized")
	return skip("(")
}

// clip shortens a text for a message.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return fmt.Sprintf("%q…", string(r[:40]))
	}
	return fmt.Sprintf("%q", s)
}
