package promptguard

import (
	_ "embed" // the tables
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed terms.txt
var termLines string

//go:embed rules.txt
var ruleLines string

// classes is a set of classes of terms.
type classes uint64

// tables are the terms as a tree of bytes, and the rules. They do not change once built.
type tables struct {
	nodes []node
	first [256]int32 // children of the root
	rules []rule
	class map[string]classes
	is    known
}

// known are the classes that the program itself knows.
type known struct{ must, mustNot, denied, model, addressed, order, speech, strong classes }

// node is a letter of terms. Its children are a list.
type node struct {
	letter      byte
	open        bool // a star: more letters may follow
	ends        classes
	child, next int32
}

// rule is a sequence of classes.
type rule struct {
	name   string
	weight int

	steps  []step
	beside []classes // that may stand anywhere
}

type step struct {
	any classes
	gap int // bytes before the next step, at most
}

// built makes the tables at their first use. A mistake in them is one of the program.
var built = sync.OnceValue(func() *tables {
	t := &tables{nodes: make([]node, 1), class: map[string]classes{}}
	for line := range strings.Lines(termLines) {
		name, terms, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || line[0] == '#' {
			continue
		}
		c := classes(1) << len(t.class)
		if c == 0 {
			panic("promptguard: there are more than 64 classes")
		}
		t.class[name] = c
		for term := range strings.SplitSeq(terms, ", ") {
			t.add(term, c)
		}
	}
	c := t.class
	t.is = known{
		must: c["must"], mustNot: c["mustnot"], model: c["model"], addressed: c["addr"], order: c["act"] | c["ignore"] | c["must"],
		denied: c["act"] | c["must"] | c["harm"] | c["call"] | c["send"] | c["reveal"], speech: c["about"] | c["strong"], strong: c["strong"],
	}
	for line := range strings.Lines(ruleLines) {
		if words := strings.Fields(line); len(words) > 2 && line[0] != '#' {
			t.rules = append(t.rules, t.rule(words))
		}
	}
	return t
})

func (t *tables) add(term string, c classes) {
	term, open := strings.CutSuffix(term, "*")
	at := int32(0)
	for i := range len(term) {
		at = t.child(at, term[i])
	}
	t.nodes[at].ends |= c
	t.nodes[at].open = t.nodes[at].open || open
}

func (t *tables) child(at int32, letter byte) int32 {
	if next := t.find(at, letter); next != 0 {
		return next
	}
	made := int32(len(t.nodes))
	t.nodes = append(t.nodes, node{letter: letter, next: t.nodes[at].child})
	if at == 0 {
		t.nodes[made].next = 0
		t.first[letter] = made
		return made
	}
	t.nodes[at].child = made
	return made
}

// find is the child of a node, or 0.
func (t *tables) find(at int32, letter byte) int32 {
	if at == 0 {
		return t.first[letter]
	}
	for c := t.nodes[at].child; c != 0; c = t.nodes[c].next {
		if t.nodes[c].letter == letter {
			return c
		}
	}
	return 0
}

func (t *tables) rule(words []string) rule {
	weight, err := strconv.Atoi(words[1])
	r := rule{name: words[0], weight: weight}
	for _, w := range words[2:] {
		w, beside := strings.CutPrefix(w, "+")
		w, gap, _ := strings.Cut(w, "/")
		s := step{gap: 40}
		if gap != "" && err == nil {
			s.gap, err = strconv.Atoi(gap)
		}
		for name := range strings.SplitSeq(w, "|") {
			if t.class[name] == 0 {
				err = fmt.Errorf("there is no class %q", name)
			}
			s.any |= t.class[name]
		}
		if beside {
			r.beside = append(r.beside, s.any)
			continue
		}
		r.steps = append(r.steps, s)
	}
	if err != nil {
		panic(fmt.Sprintf("promptguard: rule %s: %v", r.name, err))
	}
	return r
}
