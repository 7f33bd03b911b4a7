package search

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file parses expressions of SQLite's full text search (FTS5).

// expression is a node of an expression of SQLite's full text search.
type expression struct {
	// op joins left and right; opNear is a group of phrases, which has neither.
	op          operator
	left, right *expression

	columns  columns
	phrases  []phrase
	distance int // most characters between the phrases of a group
}

type operator int

const (
	opNear operator = iota
	opAnd
	opOr
	opNot
)

// phrase is a text to find. A trailing star changes nothing, since texts are found inside words too.
type phrase struct {
	text  string
	first bool // only at the beginning of a column
}

// columns is a set of texts of a block, one bit each.
type columns uint8

// columnNames are the columns of the index, in order.
var columnNames = [...]string{"name", "alias", "memo", "tag", "content"}

const everyColumn columns = 1<<len(columnNames) - 1

// blankColumns are columns that an expression may name, although they are not indexed and match nothing.
var blankColumns = strings.Fields("id parent_id root_id hash box path hpath fcontent markdown length type subtype ial sort created updated")

// defaultNear is the distance of a NEAR without a number: the most characters between its phrases.
const defaultNear = 10

// maxNear bounds the distance of a NEAR, so that positions can be subtracted from it; no text is that long.
const maxNear = 1 << 30

// maxDepth bounds the nesting of an expression, as in SQLite.
const maxDepth = 256

var errSyntax = errors.New("not an expression of the full text search")

// parseExpression parses an expression by the grammar of SQLite's FTS5: words and quoted phrases, in sequence or
// joined by AND, OR, NOT and brackets; a + b, ^a, a*, NEAR(a b, 5), column : a, {columns} : a and - column : a. As in
// SQLite, an empty phrase matches nothing.
func parseExpression(text string) (*expression, error) {
	tokens, err := lexExpression(text)
	if err != nil {
		return nil, err
	}
	p := &expressionParser{tokens: tokens}
	e := p.parseOr(everyColumn, 0)
	if p.failed || p.at < len(p.tokens) {
		return nil, errSyntax
	}
	return e, nil
}

// token is a word, a quoted text, or a punctuation mark.
type token struct {
	text   string
	isText bool // a word or a quoted text
	isWord bool // without quotes, so it may be an operator
}

// is reports whether a token is this punctuation mark or operator.
func (t token) is(text string) bool { return t.text == text && (!t.isText || t.isWord) }

// lexExpression splits an expression into tokens.
func lexExpression(text string) (tokens []token, err error) {
	for i := 0; i < len(text); {
		c := text[i]
		end := i + 1
		switch {
		case strings.IndexByte(" \t\r\n", c) >= 0:
		case strings.IndexByte("(){}:,+*-^", c) >= 0:
			tokens = append(tokens, token{text: text[i:end]})
		case c == '"':
			for end < len(text) && (text[end] != '"' || strings.HasPrefix(text[end+1:], `"`)) {
				if text[end] == '"' {
					end++
				}
				end++
			}
			if end >= len(text) {
				return nil, errSyntax
			}
			tokens = append(tokens, token{text: strings.ReplaceAll(text[i+1:end], `""`, `"`), isText: true})
			end++
		case isBare(c):
			for end < len(text) && isBare(text[end]) {
				end++
			}
			tokens = append(tokens, token{text: text[i:end], isText: true, isWord: true})
		default:
			return nil, errSyntax
		}
		i = end
	}
	return tokens, nil
}

// isBare reports whether a byte may be in an unquoted word.
func isBare(c byte) bool {
	return c >= utf8.RuneSelf || c == '_' || c == 0x1a || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// expressionParser parses tokens. After a syntax error it behaves as if there were no more tokens, and its result must
// not be used.
type expressionParser struct {
	tokens []token
	at     int
	failed bool
}

// fail notes a syntax error.
func (p *expressionParser) fail() { p.tokens, p.at, p.failed = nil, 0, true }

// peek returns the token that is ahead tokens after the next one, an empty one at the end.
func (p *expressionParser) peek(ahead int) token {
	if p.at+ahead < len(p.tokens) {
		return p.tokens[p.at+ahead]
	}
	return token{}
}

// accept skips the next token if it is this mark or operator, and reports whether it was.
func (p *expressionParser) accept(text string) bool {
	if p.at < len(p.tokens) && p.tokens[p.at].is(text) {
		p.at++
		return true
	}
	return false
}

// expect skips the next token, which must be this mark or operator.
func (p *expressionParser) expect(text string) {
	if !p.accept(text) {
		p.fail()
	}
}

// parseOr, parseAnd and parseNot parse operators; NOT binds most tightly. within are the columns that the brackets
// around are restricted to.
func (p *expressionParser) parseOr(within columns, depth int) *expression {
	e := p.parseAnd(within, depth)
	for p.accept("OR") {
		e = &expression{op: opOr, left: e, right: p.parseAnd(within, depth)}
	}
	return e
}

func (p *expressionParser) parseAnd(within columns, depth int) *expression {
	e := p.parseNot(within, depth)
	for p.accept("AND") {
		e = &expression{op: opAnd, left: e, right: p.parseNot(within, depth)}
	}
	return e
}

func (p *expressionParser) parseNot(within columns, depth int) *expression {
	e := p.parseTerm(within, depth)
	for p.accept("NOT") {
		e = &expression{op: opNot, left: e, right: p.parseTerm(within, depth)}
	}
	return e
}

// parseTerm parses an expression in brackets, or a sequence of groups of phrases, which binds tighter than AND.
func (p *expressionParser) parseTerm(within columns, depth int) *expression {
	if depth > maxDepth {
		p.fail()
	}
	start := p.at
	cols := p.filter(within)
	if p.accept("(") {
		e := p.parseOr(cols, depth+1)
		p.expect(")")
		return e
	}
	p.at = start
	var sequence *expression
	for {
		group := p.parseGroup(within)
		switch {
		case sequence == nil || sequence.isEmpty():
			sequence = group
		case !group.isEmpty():
			sequence = &expression{op: opAnd, left: sequence, right: group}
		}
		if !p.moreGroups() {
			return sequence
		}
	}
}

// moreGroups reports whether another group of phrases follows.
func (p *expressionParser) moreGroups() bool {
	next := p.peek(0)
	if next.is("AND") || next.is("OR") || next.is("NOT") {
		return false
	}
	return next.isText || next.is("^") || next.is("{") || next.is("-")
}

// filter parses the columns before a colon, if there are any, and returns those of them that are in within.
func (p *expressionParser) filter(within columns) (cols columns) {
	minus := p.accept("-")
	switch {
	case p.accept("{"):
		if p.peek(0).is("}") { // there are none
			p.fail()
		}
		for !p.failed && !p.accept("}") {
			cols |= p.column()
		}
	case minus || p.peek(0).isText && p.peek(1).is(":"):
		cols = p.column()
	default:
		return within
	}
	p.expect(":")
	if minus {
		cols = everyColumn &^ cols
	}
	return cols & within
}

// column parses the name of a column.
func (p *expressionParser) column() columns {
	t := p.peek(0)
	if !t.isText || t.is("AND") || t.is("OR") || t.is("NOT") {
		p.fail()
		return 0
	}
	p.at++
	name := strings.ToLower(t.text)
	if i := slices.Index(columnNames[:], name); i >= 0 {
		return 1 << i
	}
	if !slices.Contains(blankColumns, name) {
		p.fail()
	}
	return 0
}

// parseGroup parses a phrase, or NEAR with its phrases.
func (p *expressionParser) parseGroup(within columns) *expression {
	cols := p.filter(within)
	e := &expression{columns: cols, distance: defaultNear}
	if !p.peek(0).is("NEAR") || !p.peek(1).is("(") {
		first := p.accept("^")
		e.phrases = []phrase{p.parsePhrase(first)}
		return e
	}
	p.at += 2
	for e.phrases == nil || p.moreGroups() {
		e.phrases = append(e.phrases, p.parsePhrase(p.accept("^")))
	}
	if p.accept(",") {
		n, err := strconv.Atoi(p.peek(0).text)
		if err != nil || !p.peek(0).isText {
			p.fail()
			return e
		}
		e.distance = min(n, maxNear)
		p.at++
	}
	p.expect(")")
	return e
}

// parsePhrase parses one or more texts joined by plus signs.
func (p *expressionParser) parsePhrase(first bool) phrase {
	var text strings.Builder
	for {
		t := p.peek(0)
		if !t.isText || t.is("AND") || t.is("OR") || t.is("NOT") {
			p.fail()
			return phrase{}
		}
		p.at++
		text.WriteString(t.text)
		p.accept("*")
		if !p.accept("+") {
			return phrase{text.String(), first}
		}
	}
}

// isEmpty reports whether the expression has nothing to search for.
func (e *expression) isEmpty() bool {
	return e.op == opNear && !slices.ContainsFunc(e.phrases, func(p phrase) bool { return p.text != "" })
}

// markedTexts returns the texts to mark in hits: all except those after NOT.
func (e *expression) markedTexts() []string {
	if e.op != opNear {
		words := e.left.markedTexts()
		if e.op != opNot {
			words = append(words, e.right.markedTexts()...)
		}
		return words
	}
	var words []string
	for _, p := range e.phrases {
		if p.text != "" {
			words = append(words, p.text)
		}
	}
	return words
}
