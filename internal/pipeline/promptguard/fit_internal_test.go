//go:build fit

package promptguard

import (
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"
)

// The weights in signs.txt and words.txt are fitted by
//
//	go test -tags fit ./internal/pipeline/promptguard -run TestFit -v -others FOLDER,FOLDER -write
//
// to the texts in testdata, except unseen.txtar, and to the texts in the folders, which count as harmless. Without -write it
// reports how many texts are found by weights that were fitted to the other texts.
var (
	others   = flag.String("others", "", "folders of texts with nothing in them, separated by commas")
	lambda   = flag.Float64("lambda", 0.0001, "what weights cost")
	pairCost = flag.Float64("pairs", 1.5, "how much more those of pairs cost")
	wordCost = flag.Float64("words", 1.5, "how much more those of words cost")
	rounds   = flag.Int("rounds", 300, "rounds of descent")
	write    = flag.Bool("write", false, "write the weights")
	misses   = flag.Bool("misses", false, "list what is not told apart in other folds")
	minTexts = flag.Int("texts", 2, "in how many texts a word has to stand")
	at       = flag.Float64("at", 0.75, "from which score on a text counts as found")
	ridge    = flag.Float64("ridge", 0.0005, "what the squares of weights cost")
	share    = flag.Float64("share", 0.4, "weight of other texts")
)

// sample is a text of testdata.
type sample struct {
	name, text string
	attack     bool
	ruled      bool // the rules alone find it
	windows    []window
	fold       int
}

const folds = 5

// fitted are the files in testdata with texts to fit the weights to.
var fitted = []string{"attacks.txtar", "benign.txtar", "later.txtar", "styles.txtar"}

func load(t *testing.T) (all []sample) {
	for _, file := range fitted {
		data, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range txtar.Parse(data).Files {
			all = append(all, sample{
				name: file[:1] + " " + f.Name, text: Unescape(strings.TrimSuffix(string(f.Data), "\n")), fold: (i*7 + i/13) % folds, // mixes them, since texts of one kind follow each other
				attack: file == "attacks.txtar" || strings.HasPrefix(f.Name, "attack"),
			})
		}
	}
	return all
}

// windowsOf returns the windows of a text that weigh judges without a discount, and the verdict of the rules alone.
func windowsOf(text string) ([]window, Verdict) {
	var list []window
	m := matches{windows: &list}
	m.scan(text, 0)
	return slices.DeleteFunc(list, func(w window) bool { return w.discount > 0 }), m.result().Verdict
}

// wordsOf returns the words and pairs of words in a text, as terms of the trie.
func wordsOf(text string) map[string]bool {
	out := map[string]bool{}
	plain, _ := unfold(text, &matches{})
	letters := []rune(strings.ToLower(plain))
	before := ""
	for i := 0; i < len(letters); {
		end := i
		switch r := letters[i]; {
		case unicode.Is(unicode.Han, r):
			for end < len(letters) && unicode.Is(unicode.Han, letters[end]) {
				end++
			}
			for k := i; k < end; k++ {
				for n := 2; n <= 4 && k+n <= end; n++ {
					out[string(letters[k:k+n])] = true
				}
			}
			before = ""
		case r >= 'a' && r <= 'z':
			for end < len(letters) && letters[end] >= 'a' && letters[end] <= 'z' {
				end++
			}
			word := string(letters[i:end])
			if len(word) > 1 {
				out[stem(word)] = true
				if before != "" {
					out[before+" "+word] = true
				}
			}
			before = word
			if end+1 < len(letters) && !strings.ContainsRune(" -_'", letters[end]) {
				before = ""
			}
		default:
			end++
		}
		i = end
	}
	return out
}

// stem replaces a common English ending of a word by *, which matches any ending. Longer words get a * in any case.
func stem(word string) string {
	for _, ending := range []string{"ing", "ed", "es", "s", "e", "ly"} {
		if rest, ok := strings.CutSuffix(word, ending); ok && len(rest) > 3 {
			return rest + "*"
		}
	}
	if len(word) > 4 {
		return word + "*"
	}
	return word
}

// vocabulary returns the words that occur in at least minTexts texts, those that separate attacks from others best first.
func vocabulary(all []sample) []string {
	type counts struct{ attacks, others int }
	seen := map[string]counts{}
	for i := range all {
		for w := range wordsOf(all[i].text) {
			c := seen[w]
			if all[i].attack {
				c.attacks++
			} else {
				c.others++
			}
			seen[w] = c
		}
	}
	var words []string
	for w, c := range seen {
		if c.attacks+c.others >= *minTexts {
			words = append(words, w)
		}
	}
	telling := func(w string) float64 {
		c := seen[w]
		return math.Abs(float64(c.attacks)-float64(c.others)) / math.Sqrt(float64(c.attacks+c.others))
	}
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(telling(b), telling(a)), cmp.Compare(a, b))
	})
	return words[:min(len(words), maxWeighed-1)]
}

// loadOthers returns the windows of the other texts.
func loadOthers(t *testing.T) (out []window) {
	size := 0
	seen := map[string]bool{}
	for dir := range strings.SplitSeq(*others, ",") {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || dir == "" {
				return nil
			}
			switch filepath.Ext(p) {
			case ".md", ".txt", ".html", ".rst", ".go", ".py", ".ts":
			default:
				return nil
			}
			data, err := os.ReadFile(p)
			if err != nil || len(data) > 100<<10 {
				return nil
			}
			size += len(data)
			ws, _ := windowsOf(string(data))
			for _, w := range ws {
				if key := fmt.Sprint(w.signs, w.words); bits.OnesCount64(uint64(w.signs)) > 1 && !seen[key] {
					seen[key] = true
					out = append(out, w)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if most := 30000; len(out) > most {
		step := len(out)/most + 1
		var part []window
		for i := 0; i < len(out); i += step {
			part = append(part, out[i])
		}
		out = part
	}
	t.Logf("others: %d bytes, %d windows", size, len(out))
	return out
}

// model has a weight for each kind of words, pair of kinds, and word.
type model struct {
	index map[kinds]int32
	words int // the first index of words
	w     []float64
	bias  float64
}

func (m *model) features(w *window) (out []int32) {
	for a := uint64(w.signs); a != 0; a &= a - 1 {
		first := kinds(1) << bits.TrailingZeros64(a)
		if i, ok := m.index[first]; ok {
			out = append(out, i)
		}
		for b := a & (a - 1); b != 0; b &= b - 1 {
			if i, ok := m.index[first|kinds(1)<<bits.TrailingZeros64(b)]; ok {
				out = append(out, i)
			}
		}
	}
	for _, n := range w.words {
		out = append(out, int32(m.words+int(n)))
	}
	return out
}

func (m *model) score(f []int32) float64 {
	s := m.bias
	for _, i := range f {
		s += m.w[i]
	}
	return s
}

// row is a window to fit to: its features, its weight in the fit, and 1 for an attack or 0.
type row struct {
	f      []int32
	weight float64
	y      float64
}

// train fits a model. An attack is represented by its window with the highest score.
func train(m *model, cost []float64, samples []sample, other []row) {
	m.w, m.bias = make([]float64, len(cost)), -3
	rows := slices.Clone(other)
	windows := make([][]row, len(samples))
	for i := range samples {
		s := &samples[i]
		weight := 1.0
		if s.ruled {
			weight = 0.5
		}
		for k := range s.windows {
			windows[i] = append(windows[i], row{m.features(&s.windows[k]), weight, 1})
			if !s.attack {
				rows = append(rows, row{windows[i][k].f, 1.5, 0})
			}
		}
	}
	base := len(rows)
	squares := make([]float64, len(cost)+1)
	for round := range *rounds {
		if round%15 == 0 {
			rows = rows[:base]
			for i := range samples {
				if !samples[i].attack || len(windows[i]) == 0 {
					continue
				}
				rows = append(rows, slices.MaxFunc(windows[i], func(a, b row) int {
					if round == 0 {
						return cmp.Compare(len(a.f), len(b.f))
					}
					return cmp.Compare(m.score(a.f), m.score(b.f))
				}))
			}
		}
		g, sum := make([]float64, len(cost)+1), 0.0
		for i := range rows {
			r := &rows[i]
			d := (1/(1+math.Exp(-m.score(r.f))) - r.y) * r.weight
			sum += r.weight
			for _, k := range r.f {
				g[k] += d
			}
			g[len(cost)] += d
		}
		for k := range g {
			slope := g[k] / sum
			if k < len(cost) {
				slope += *ridge * m.w[k]
			}
			squares[k] += slope * slope
			step := 0.2 / (1e-4 + math.Sqrt(squares[k]))
			if k == len(cost) {
				m.bias -= step * slope
				continue
			}
			w := m.w[k] - step*slope
			m.w[k] = math.Copysign(max(0, math.Abs(w)-step**lambda*cost[k]), w)
		}
	}
}

func (m *model) best(s *sample) float64 {
	best := math.Inf(-1)
	for i := range s.windows {
		best = max(best, m.score(m.features(&s.windows[i])))
	}
	return best
}

// report logs for some thresholds how many texts are found.
func report(t *testing.T, what string, list []sample, scores []float64) {
	for _, th := range []float64{-0.5, 0, 0.25, 0.5, 0.75, 1, 1.5, 2} {
		n := map[string][2]int{}
		for i := range list {
			s := &list[i]
			for _, set := range []string{"all", s.name[:1]} {
				key := fmt.Sprint(set, " ", map[bool]string{true: "attacks", false: "others"}[s.attack])
				c := n[key]
				c[1]++
				if s.ruled || scores[i] >= th {
					c[0]++
				}
				n[key] = c
			}
		}
		line := fmt.Sprintf("%s from %5.2f on:", what, th)
		for _, key := range []string{"all attacks", "all others", "l attacks", "l others", "s attacks", "s others"} {
			line += fmt.Sprintf(" %s %.1f%%", key, 100*float64(n[key][0])/float64(n[key][1]))
		}
		t.Log(line)
	}
}

func TestFit(t *testing.T) {
	all := load(t)
	terms := vocabulary(all)
	signLines = strings.Replace(signLines, "\nneeded ", "\nneeded 1000000:\n#", 1)
	wordLines = ""
	for _, w := range terms {
		wordLines += w + " 0\n"
	}
	tab := loadTables()
	for i := range all {
		var v Verdict
		all[i].windows, v = windowsOf(all[i].text)
		all[i].ruled = v != Clean
	}
	m := &model{index: map[kinds]int32{}}
	var cost []float64
	names := map[kinds]string{}
	for name, k := range tab.kind {
		names[k] = name
	}
	for _, k := range slices.Sorted(func(yield func(kinds) bool) {
		for k := range names {
			if !yield(k) {
				return
			}
		}
	}) {
		m.index[k] = int32(len(cost))
		cost = append(cost, 0.5)
	}
	pairs := map[kinds]int{}
	for i := range all {
		for _, w := range all[i].windows {
			for a := uint64(w.signs); a != 0; a &= a - 1 {
				for b := a & (a - 1); b != 0; b &= b - 1 {
					pairs[kinds(1)<<bits.TrailingZeros64(a)|kinds(1)<<bits.TrailingZeros64(b)]++
				}
			}
		}
	}
	for _, k := range slices.Sorted(func(yield func(kinds) bool) {
		for k, n := range pairs {
			if n >= 8 && !yield(k) {
				return
			}
		}
	}) {
		m.index[k] = int32(len(cost))
		cost = append(cost, *pairCost)
	}
	m.words = len(cost)
	for range len(tab.words) {
		cost = append(cost, *wordCost)
	}
	var other []row
	for _, w := range loadOthers(t) {
		other = append(other, row{m.features(&w), 0, 0})
	}
	for i := range other {
		other[i].weight = *share * 3000 / float64(len(other))
	}
	scores := make([]float64, len(all))
	for fold := range folds {
		if *write {
			break
		}
		part := *m
		train(&part, cost, slices.DeleteFunc(slices.Clone(all), func(s sample) bool { return s.fold == fold }), other)
		for i := range all {
			if all[i].fold == fold {
				scores[i] = part.best(&all[i])
			}
		}
	}
	report(t, "other folds", all, scores)
	if *misses {
		for i := range all {
			if s := &all[i]; s.attack != (s.ruled || scores[i] >= *at) {
				t.Logf("%v %.2f %s: %s", s.attack, scores[i], s.name, s.text)
			}
		}
	}
	train(m, cost, all, other)
	for i := range all {
		scores[i] = m.best(&all[i])
	}
	report(t, "all", all, scores)
	used := 0
	for _, w := range m.w {
		if w != 0 {
			used++
		}
	}
	t.Logf("%d kinds, %d pairs, %d words, %d weights that are not 0", len(names), len(pairs), len(terms), used)
	if *write {
		m.save(t, names, terms)
	}
}

// save writes the weights to signs.txt and words.txt, in tenths.
func (m *model) save(t *testing.T, names map[kinds]string, terms []string) {
	t.Helper()
	round := func(w float64) int { return int(math.Round(10 * w)) }
	data, err := os.ReadFile("signs.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(data)) {
		head, rest, ok := strings.Cut(line, ":")
		name, _, _ := strings.Cut(head, " ")
		switch {
		case line[0] == '#' || !ok:
			out.WriteString(line)
		case name == "needed" || strings.Contains(name, "+"):
		default:
			for k, n := range names {
				if n == name {
					fmt.Fprintf(&out, "%s %d:%s", name, round(m.w[m.index[k]]), rest)
				}
			}
		}
	}
	var pairs []string
	for k, i := range m.index {
		if bits.OnesCount64(uint64(k)) != 2 || round(m.w[i]) == 0 {
			continue
		}
		one := k & -k
		both := []string{names[one], names[k&^one]}
		slices.Sort(both)
		pairs = append(pairs, fmt.Sprintf("%s %d:\n", strings.Join(both, "+"), round(m.w[i])))
	}
	slices.Sort(pairs)
	out.WriteString(strings.Join(pairs, ""))
	fmt.Fprintf(&out, "needed %d:\n", round(*at-m.bias))
	if err := os.WriteFile("signs.txt", []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var words []string
	for i, term := range terms {
		if w := round(m.w[m.words+i+1]); w != 0 {
			words = append(words, fmt.Sprintf("%s %d\n", term, w))
		}
	}
	slices.Sort(words)
	head := "# Words and pairs of words with what they weigh in a sentence, as signs.txt has kinds of them. This file is written by TestFit.\n"
	if err := os.WriteFile("words.txt", []byte(head+strings.Join(words, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("wrote %d pairs and %d words", len(pairs), len(words))
}
