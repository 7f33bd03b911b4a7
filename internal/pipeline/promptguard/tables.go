package promptguard

import (
	_ "embed" // the tables
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed terms.txt
var termLines string

//go:embed rules.txt
var ruleLines string

//go:embed signs.txt
var signLines string

// classes is a set of classes of terms.
type classes uint64

// tables are the terms as a tree of bytes, and the rules. They do not change once built.
type tables struct {
	nodes   []node
	letters []byte // of the nodes; children of a node follow one another
	means   []meaning
	first   [256]int32     // children of the root
	begin   [32 << 5]int32 // nodes of the first two letters of words
	han     [maxHan]uint16 // nodes of Chinese characters
	rules   []rule
	class   map[string]classes
	is      known
	*signs
}

// known are the classes that the program itself knows.
type known struct{ must, mustNot, denied, model, addressed, order, speech, strong classes }

// node is a letter of terms.
type node struct {
	child uint32 // the first one
	many  uint8  // children
	open  bool   // a star: more letters may follow
	means uint16 // what ends here, in means of tables; 0 for nothing
}

// meaning is what a term is.
type meaning struct {
	is    classes
	signs kinds
}

// twig is a node while the tree grows.
type twig struct {
	letter byte
	open   bool
	meaning
	children []*twig
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
	t := &tables{class: map[string]classes{}, signs: &signs{}}
	root := &twig{}
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
			root.add(term).is |= c
		}
	}
	t.readSigns(root)
	t.grow(root)
	t.shorten()
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

// add returns the node where term ends.
func (w *twig) add(term string) *twig {
	term, open := strings.CutSuffix(term, "*")
	for _, letter := range []byte(term) {
		i := slices.IndexFunc(w.children, func(c *twig) bool { return c.letter == letter })
		if i < 0 {
			i = len(w.children)
			w.children = append(w.children, &twig{letter: letter})
		}
		w = w.children[i]
	}
	w.open = w.open || open
	return w
}

// grow lays the tree out so that to walk through it touches little memory.
func (t *tables) grow(root *twig) {
	t.nodes, t.letters, t.means = []node{{}}, []byte{0}, []meaning{{}}
	means := map[meaning]uint16{{}: 0}
	level := []*twig{root}
	for at := 0; at < len(level); at++ {
		w := level[at]
		t.nodes[at].child, t.nodes[at].many = uint32(len(t.nodes)), uint8(len(w.children))
		for _, c := range w.children {
			m, ok := means[c.meaning]
			if !ok {
				m = uint16(len(t.means))
				means[c.meaning] = m
				t.means = append(t.means, c.meaning)
			}
			if at == 0 {
				t.first[c.letter] = int32(len(t.nodes))
			}
			t.nodes = append(t.nodes, node{open: c.open, means: m})
			t.letters = append(t.letters, c.letter)
		}
		level = append(level, w.children...)
	}
	if len(t.nodes) > 1<<16 {
		panic("promptguard: there are too many terms")
	}
}

// Chinese characters that terms may begin with.
const (
	firstHan = 0x4E00
	maxHan   = 0x9FFF - firstHan
)

// shorten notes where the terms are whose beginnings are two letters or a Chinese character: most words begin none.
func (t *tables) shorten() {
	for a := byte('a'); a <= 'z'; a++ {
		for b := byte('a'); b <= 'z'; b++ {
			if at := t.first[a]; at != 0 {
				t.begin[pairOf(a, b)] = t.find(at, b)
			}
		}
	}
	for i := range t.han {
		at := int32(0)
		for _, b := range []byte(string(rune(firstHan + i))) {
			if at = t.find(at, b); at == 0 {
				break
			}
		}
		t.han[i] = uint16(at)
	}
}

func pairOf(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// enter finds the node for the beginning of text[i:], and where that ends. No term has one letter.
func (t *tables) enter(text string, i int, digits bool) (at int32, end int) {
	b := text[i]
	switch {
	case b < utf8.RuneSelf && !digits && i+1 < len(text) && alpha(b) && alpha(text[i+1]):
		return t.begin[pairOf(b, text[i+1])], i + 2
	case b >= 0xE4 && b <= 0xE9 && i+2 < len(text):
		r := rune(b&15)<<12 | rune(text[i+1]&63)<<6 | rune(text[i+2]&63)
		if r -= firstHan; r >= 0 && r < maxHan {
			return int32(t.han[r]), i + 3
		}
		return 0, 0
	case digits && b >= '0' && b <= '9':
		b = leet[b-'0']
	case b < utf8.RuneSelf:
		b |= 0x20
	}
	return t.first[b], i + 1
}

func alpha(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// find is the child of a node, or 0.
func (t *tables) find(at int32, letter byte) int32 {
	n := &t.nodes[at]
	for i, l := range t.letters[n.child : n.child+uint32(n.many)] {
		if l == letter {
			return int32(n.child) + int32(i)
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
