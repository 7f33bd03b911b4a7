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

// This file loads the embedded tables of terms, rules and weights.

//go:embed terms.txt
var termLines string

//go:embed rules.txt
var ruleLines string

//go:embed signs.txt
var signLines string

//go:embed words.txt
var wordLines string

// classes is a set of classes of terms.
type classes uint64

// tables hold the rules, and the terms as a trie of bytes. They are read-only once loaded.
type tables struct {
	nodes   []node
	letters []byte         // the letter that leads to each node; the children of a node are consecutive
	means   []meaning      // the different meanings of terms
	first   [256]int32     // children of the root
	begin   [32 << 5]int32 // nodes of the first two letters of words
	han     [maxHan]uint16 // nodes of Chinese characters
	rules   []rule
	class   map[string]classes
	is      knownClasses
	*signs
}

// knownClasses are the classes that the code refers to. Where a member unites several, a term of any of them counts.
type knownClasses struct {
	must, mustNot classes // an obligation and a prohibition
	negatable     classes // what loses its weight after a negation
	model         classes // names of the model
	addressed     classes // words that address the reader
	order         classes // words of an order
	speech        classes // words about what is said, and those that are signs on their own
	strong        classes // words that are signs on their own
}

// node is a node of the trie.
type node struct {
	child uint32 // index of the first child
	count uint8  // of children
	open  bool   // a term with * ends here: more letters may follow
	means uint16 // index in tables.means of the term that ends here; 0: none
}

// meaning holds the classes and signs of a term, and its number in words.txt, which lists words with weights that are summed
// up by sentence.
type meaning struct {
	classes classes
	signs   kinds
	word    uint16 // 0: it is not in words.txt
}

// trieNode is a node of the trie while it is built.
type trieNode struct {
	letter byte
	open   bool
	meaning
	children []*trieNode
}

// rule matches a sequence of classes.
type rule struct {
	name   string
	weight int

	steps  []step
	beside []classes // each must occur somewhere in the sentence
}

// step is one place in the sequence of a rule.
type step struct {
	any classes // a term of any of these fits
	gap int     // largest number of bytes before the next step
}

// loadTables parses the embedded files at the first use. It panics if they are invalid, which tests exclude.
var loadTables = sync.OnceValue(func() *tables {
	t := &tables{class: map[string]classes{}, signs: &signs{}}
	root := &trieNode{}
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
			for _, n := range root.terms(term) {
				n.classes |= c
			}
		}
	}
	t.readSigns(root)
	t.readWords(root)
	t.flatten(root)
	t.indexPrefixes()
	c := t.class
	t.is = knownClasses{
		must: c["must"], mustNot: c["mustnot"], model: c["model"], addressed: c["addr"], order: c["act"] | c["ignore"] | c["must"],
		negatable: c["act"] | c["must"] | c["harm"] | c["call"] | c["send"] | c["reveal"], speech: c["about"] | c["strong"], strong: c["strong"],
	}
	for line := range strings.Lines(ruleLines) {
		if words := strings.Fields(line); len(words) > 2 && line[0] != '#' {
			t.rules = append(t.rules, t.rule(words))
		}
	}
	return t
})

// traditional holds simplified Chinese characters, each followed by the traditional one.
const traditional = "请請将將发發给給这這个個说說读讀写寫们們应應须須与與为為问問题題时時对對话話关關开開无無视視导導出出删刪除除让讓会會户戶邮郵件件传傳输輸执執行行调調用用" +
	"记記录錄权權限限设設统統系系员員运運营營数數据據网網页頁址址链鏈接接档檔案案笔筆复復制製钥鑰证證凭憑账帳号號码碼终終务務报報审審确確认認许許规規则則单單听聽" +
	"从從来來没沒别別边邊后後里裡总總结結标標签籤类類实實际際专專业業门門间間动動机機脑腦语語义義译譯诉訴讯訊联聯络絡简簡击擊点點选選项項连連转轉载載启啟闭閉维維护護" +
	"骤驟续續继繼紧緊张張马馬见見觉覺观觀显顯现現历歷压壓缩縮释釋图圖书書画畫厂廠产產价價买買卖賣费費银銀钱錢货貨质質赞讚优優惠惠荐薦测測试試验驗级級终終编編辑輯夹夾" +
	"组組织織构構虑慮态態种種积積极極贴貼随隨机機绝絕隐隱秘祕密密窃竊诱誘骗騙达達满滿额額还還进進远遠过過遗遺适適误誤谁誰谢謝谈談课課谅諒谨謹识識诺諾诚誠该該详詳询詢" +
	"订訂计計议議讲講论論评評词詞试試访訪证證诊診泄洩绕繞遵遵从從纪紀约約级級线線组組细細经經绑綁给給络絡统統绩績维維缓緩编編缩縮罗羅职職肃肅脚腳节節范範药藥虽雖补補装裝"

var toTraditional = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	seen := map[string]bool{}
	letters := []rune(traditional)
	for i := 0; i+1 < len(letters); i += 2 {
		if from := string(letters[i]); !seen[from] {
			seen[from] = true
			pairs = append(pairs, from, string(letters[i+1]))
		}
	}
	return strings.NewReplacer(pairs...)
})

// terms returns the nodes of a term and, for a Chinese term, also of its spelling in traditional characters.
func (w *trieNode) terms(term string) []*trieNode {
	nodes := []*trieNode{w.add(term)}
	if other := toTraditional().Replace(term); other != term {
		nodes = append(nodes, w.add(other))
	}
	return nodes
}

// add adds a term and returns its last node.
func (w *trieNode) add(term string) *trieNode {
	term, open := strings.CutSuffix(term, "*")
	for _, letter := range []byte(term) {
		i := slices.IndexFunc(w.children, func(c *trieNode) bool { return c.letter == letter })
		if i < 0 {
			i = len(w.children)
			w.children = append(w.children, &trieNode{letter: letter})
		}
		w = w.children[i]
	}
	w.open = w.open || open
	return w
}

// flatten lays the trie out in arrays, so that a lookup touches little memory.
func (t *tables) flatten(root *trieNode) {
	t.nodes, t.letters, t.means = []node{{}}, []byte{0}, []meaning{{}}
	means := map[meaning]uint16{{}: 0}
	level := []*trieNode{root}
	for at := 0; at < len(level); at++ {
		w := level[at]
		t.nodes[at].child, t.nodes[at].count = uint32(len(t.nodes)), uint8(len(w.children))
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

// The range of Chinese characters that terms may begin with.
const (
	firstHan = 0x4E00
	maxHan   = 0x9FFF - firstHan
)

// indexPrefixes records the nodes for the first two letters, or the first Chinese character, of terms, because most
// words match no term and are excluded by one lookup.
func (t *tables) indexPrefixes() {
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

// pairOf returns the index in begin of two letters.
func pairOf(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// enter returns the node for the first characters of text[i:], 0 if no term begins with them, and where they end: after
// two letters, which is possible because no term has only one, or after a Chinese character, else after one byte. If
// digits is set, digits are read as the letters that they stand for.
func (t *tables) enter(text string, i int, digits bool) (at int32, end int) {
	b := text[i]
	switch {
	case b < utf8.RuneSelf && !digits && i+1 < len(text) && isLetter(b) && isLetter(text[i+1]):
		return t.begin[pairOf(b, text[i+1])], i + 2
	case b >= 0xE4 && b <= 0xE9 && i+2 < len(text): // the first byte of Chinese characters in UTF-8
		r := rune(b&15)<<12 | rune(text[i+1]&63)<<6 | rune(text[i+2]&63)
		if r -= firstHan; r >= 0 && r < maxHan {
			return int32(t.han[r]), i + 3
		}
		return 0, 0
	case digits && b >= '0' && b <= '9':
		b = leet[b-'0']
	case b < utf8.RuneSelf:
		b |= 0x20 // to lower case
	}
	return t.first[b], i + 1
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// find returns the child of a node for letter, or 0.
func (t *tables) find(at int32, letter byte) int32 {
	n := &t.nodes[at]
	for i, l := range t.letters[n.child : n.child+uint32(n.count)] {
		if l == letter {
			return int32(n.child) + int32(i)
		}
	}
	return 0
}

// defaultGap is the gap, in bytes, of a step that names none.
const defaultGap = 40

// rule parses the words of a line of rules.txt, where the form of a line is described.
func (t *tables) rule(words []string) rule {
	weight, err := strconv.Atoi(words[1])
	r := rule{name: words[0], weight: weight}
	for _, w := range words[2:] {
		w, beside := strings.CutPrefix(w, "+")
		w, gap, _ := strings.Cut(w, "/")
		s := step{gap: defaultGap}
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
