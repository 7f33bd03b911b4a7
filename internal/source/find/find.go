// Package find ranks actions by how well they answer a question in words, English or Chinese.
//
// The ranking is BM25F (Robertson and Zaragoza: BM25 over several fields, each with a weight), extended for lists of
// tools:
//
//   - Words that mean the same to somebody who looks for a tool, such as "delete" and "remove", match each other, also across the two languages.
//   - A word that no action has matches words that look like it.
//   - Everyday English words count little, however rare they are among tools.
//   - A document scores more if the question explains more of its name.
//
// Everything is in memory and nothing is learned: the same documents and question always give the same order.
package find

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Doc describes one action.
type Doc struct {
	Server      string   // name of the Tool it belongs to
	Name        string   // the source's own name for it
	Title       string   // may be empty
	Description string   // may be empty, may be long
	Params      []string // names of the arguments
	Values      string   // the words of the schema: descriptions and values; may be empty
	About       string   // the user's own note of what its server is for; may be empty
}

// Hit is a document that matches a question.
type Hit struct {
	Doc   int // index in the documents given to [New]
	Score float64
}

// The fields of a document, with the weight of a word in each.
const (
	inName = iota
	inTitle
	inHead // the first sentence of the description
	inBody // the rest of it
	inParams
	inValues
	inServer
	fields
)

var weights = [fields]float32{inName: 3, inTitle: 2, inHead: 1.6, inBody: 0.5, inParams: 0.35, inValues: 0.15, inServer: 1}

// lengthNorm is how much a word's weight falls in a long field (BM25's b), from 0 to 1.
var lengthNorm = [fields]float32{inName: 0.4, inTitle: 0.4, inHead: 0.5, inBody: 0.8, inParams: 0.6, inValues: 0.15, inServer: 0}

const (
	// saturation is BM25's k1: the larger it is, the more each repetition of a word in a document still adds.
	saturation = 2.2
	// synonymFactor is the factor for a word of the same meaning, similarFactor the one for a word that only looks alike.
	synonymFactor, similarFactor = 0.8, 0.5
	// commonFactor is the factor for a word of everyday English, pairFactor the one for a pair of Chinese characters that
	// is not a known word.
	commonFactor, pairFactor = 0.4, 0.3
	// coverageWeight is the weight of having many different words of the question, compared with having one of them
	// often. nameCoverageWeight is the weight of the share of the name that the question explains.
	coverageWeight, nameCoverageWeight = 0.45, 0.36
	// sameVerbFactor is the factor for an action with the verb of the question, otherVerbFactor the one where only one of
	// the two is a read.
	sameVerbFactor, otherVerbFactor = 1.1, 0.95
	// maxRarity bounds the weight that a word gets for being rare.
	maxRarity = 4.7
	// mentionWeight is the weight from which on a document counts as being about a word, and not just mentioning it.
	mentionWeight = 2.6
	// repeatFactor is the factor when a word of a document matches a second word of the question, crossLanguageFactor the
	// one for a Chinese word of the question that matches an English word.
	repeatFactor, crossLanguageFactor = 0.17, 0.8
	// verbWordFactor is the factor for words that name an act rather than its object.
	verbWordFactor = 0.6
	// exactFormBonus is the bonus for a name that has a word of the question in the same form, ending included.
	exactFormBonus = 0.28
)

// Index is a searchable set of documents. It is immutable and safe for concurrent use.
type Index struct {
	docs      int
	nameVerbs []verbSet          // per document: the verbs in its name
	names     []float64          // per document: the summed rarity of the words of its name
	terms     map[string]int32   // by word: index into postings
	postings  [][]posting        // by term; documents ascending
	spreads   []float64          // by term: how many documents have it; those that only mention it count for less
	forms     map[string][]int32 // documents with that word, ending included, in their name
	sorted    []string           // all terms in order, to find words with the same beginning
}

type posting struct {
	doc   int32
	named bool    // the term is in the name
	count float32 // occurrences, weighted over the fields
}

// New builds an index of documents, in about 20 µs for a usual document. It does not keep docs.
func New(docs []Doc) *Index {
	x := &Index{docs: len(docs), nameVerbs: make([]verbSet, len(docs)), names: make([]float64, len(docs)), terms: map[string]int32{}, forms: map[string][]int32{}}
	var lengths [fields]float32
	type occurrence struct{ term, field int32 }
	all := make([][]occurrence, len(docs))
	each := make([][fields]float32, len(docs))
	shared := namePrefixes(docs)
	var s scanner
	for i := range docs {
		add := func(field int, text string) {
			for _, w := range s.words(text) {
				id, ok := x.terms[w]
				if !ok {
					id = int32(len(x.terms))
					x.terms[w] = id
				}
				all[i] = append(all[i], occurrence{id, int32(field)})
				each[i][field]++
				lengths[field]++
			}
		}
		d := &docs[i]
		head, body := firstSentence(d.Description)
		prefix := shared[d.Server]
		add(inServer, d.Name[:prefix])
		add(inName, d.Name[prefix:])
		x.nameVerbs[i] = verbsOf(s.found)
		scanRuns(d.Name[prefix:], func(word string) {
			word = lowerCut(word)
			if list := x.forms[word]; len(list) == 0 || list[len(list)-1] != int32(i) {
				x.forms[word] = append(list, int32(i))
			}
		}, func(string) {})
		add(inTitle, d.Title)
		add(inHead, head)
		add(inBody, leadingText(body))
		for _, p := range d.Params {
			add(inParams, p)
		}
		add(inValues, leadingText(d.Values))
		add(inServer, d.Server)
		add(inServer, d.About)
	}
	for f := range lengths {
		lengths[f] = max(lengths[f]/float32(max(1, len(docs))), 1)
	}
	x.postings = make([][]posting, len(x.terms))
	for i, found := range all {
		for _, o := range found {
			f := o.field
			part := weights[f] / (1 - lengthNorm[f] + lengthNorm[f]*each[i][f]/lengths[f])
			list := x.postings[o.term]
			if n := len(list); n > 0 && list[n-1].doc == int32(i) {
				list[n-1].count += part
				list[n-1].named = list[n-1].named || f == inName
			} else {
				x.postings[o.term] = append(list, posting{int32(i), f == inName, part})
			}
		}
	}
	x.spreads = make([]float64, len(x.postings))
	for term, list := range x.postings {
		for _, p := range list {
			x.spreads[term] += x.relevance(p)
		}
		for _, p := range list {
			if p.named {
				x.names[p.doc] += x.rarity(x.spreads[term])
			}
		}
	}
	x.sorted = make([]string, 0, len(x.terms))
	for w := range x.terms {
		x.sorted = append(x.sorted, w)
	}
	slices.Sort(x.sorted)
	return x
}

// namePrefixes returns, by server, the length in bytes of the prefix that the names of all its actions share, up to a
// separator: "linear_", "API-".
func namePrefixes(docs []Doc) map[string]int {
	first, out, count := map[string]string{}, map[string]int{}, map[string]int{}
	for i := range docs {
		d := &docs[i]
		if count[d.Server]++; count[d.Server] == 1 {
			first[d.Server], out[d.Server] = d.Name, strings.IndexAny(d.Name, "_-.")+1
		}
		if n := out[d.Server]; n > 0 && !strings.HasPrefix(d.Name, first[d.Server][:n]) {
			out[d.Server] = 0
		}
	}
	for server, n := range count {
		if n < 2 {
			out[server] = 0
		}
	}
	return out
}

// Search returns at most limit documents that match text, the best first. Equally good documents keep the order in
// which [New] got them. A text without words matches nothing.
func (x *Index) Search(text string, limit int) []Hit {
	if lower := " " + strings.ToLower(text) + " "; phraseReplacer().Replace(lower) != lower {
		text = phraseReplacer().Replace(lower) // only if needed, since its capitals separate the words of names
	}
	words, every := parseQuestion(text)
	wanted := verbsOf(every)
	if len(words) == 0 || limit <= 0 {
		return nil
	}
	s := newScores(x.docs)
	matches := x.findMatches(words)
	for i := range words {
		x.addWord(s, &words[i], matches[i])
	}
	hits := x.collectHits(s, wanted)
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(limit, len(hits))]
}

// findMatches returns the terms that each word of a question matches. A term that several words match counts in full for
// one of them only: the one with the greatest weight.
func (x *Index) findMatches(words []queryWord) [][]variant {
	type claim struct {
		word   int
		weight float64
	}
	claims := map[int32]claim{}
	each := make([][]variant, len(words))
	for i, word := range words {
		each[i] = x.variants(word)
		for _, v := range each[i] {
			if weight := v.weight * word.weight; weight > claims[v.term].weight {
				claims[v.term] = claim{i, weight}
			}
		}
	}
	for i, variants := range each {
		for j := range variants {
			if claims[variants[j].term].word != i {
				variants[j].weight *= repeatFactor
			}
		}
	}
	return each
}

// scores are the figures of one search, per document.
type scores struct {
	total   []float64
	met     []float64 // importance of the question's words that it has
	inNames []float64 // rarity of the question's words that its name has
	all     float64   // importance of all words of the question

	// The figures of the current word, and the documents that have any.
	best, counts, inName []float64
	touched              []int32
}

func newScores(docs int) *scores {
	return &scores{
		total: make([]float64, docs), met: make([]float64, docs), inNames: make([]float64, docs),
		best: make([]float64, docs), counts: make([]float64, docs), inName: make([]float64, docs),
	}
}

// addWord adds what one word of the question is worth to each document that has it.
func (x *Index) addWord(s *scores, word *queryWord, variants []variant) {
	importance := 0.0
	for _, v := range variants { // the word itself and words that look like it, each by its own rarity
		rarity := x.rarity(x.spreads[v.term])
		for _, p := range x.postings[v.term] {
			if s.best[p.doc] == 0 && s.counts[p.doc] == 0 {
				s.touched = append(s.touched, p.doc)
			}
			s.counts[p.doc] += float64(p.count) * v.weight
			if !v.synonym {
				s.best[p.doc] = max(s.best[p.doc], v.weight*rarity*saturate(float64(p.count)))
			}
			if p.named {
				s.inName[p.doc] = max(s.inName[p.doc], v.weight*rarity)
			}
		}
		if !v.synonym {
			importance = max(importance, rarity*v.weight)
		}
	}
	n := 0.0
	for _, d := range s.touched {
		n += min(1, s.counts[d]/mentionWeight)
	}
	rarity := x.rarity(n) // all words of this meaning, as if they were one word
	importance = max(importance, rarity*synonymFactor)
	for _, d := range x.forms[word.raw] {
		s.total[d] += exactFormBonus * rarity * word.weight
	}
	for _, d := range s.touched {
		best := max(s.best[d], rarity*saturate(s.counts[d]))
		s.total[d] += best * word.weight
		s.met[d] += min(importance, max(rarity*synonymFactor, best)) * word.weight
		s.inNames[d] += s.inName[d]
		s.best[d], s.counts[d], s.inName[d] = 0, 0, 0
	}
	s.all += importance * word.weight
	s.touched = s.touched[:0]
}

// collectHits returns the documents that have a score. It lowers the score of those that lack words of the question and of
// those with other words in their name, and multiplies it by verbFactor.
func (x *Index) collectHits(s *scores, wanted verbSet) (hits []Hit) {
	for d, t := range s.total {
		if t > 0 {
			t *= 1 - coverageWeight + coverageWeight*s.met[d]/s.all
			if x.names[d] > 0 {
				t *= 1 - nameCoverageWeight + nameCoverageWeight*min(1, s.inNames[d]/x.names[d])
			}
			hits = append(hits, Hit{d, t * verbFactor(wanted, x.nameVerbs[d])})
		}
	}
	return hits
}

// relevance returns how far the document of p is about the term, from 0 to 1.
func (x *Index) relevance(p posting) float64 { return min(1, float64(p.count)/mentionWeight) }

// rarity returns the weight of a word that n documents have: the fewer, the more.
func (x *Index) rarity(n float64) float64 {
	return min(maxRarity, math.Log(1+(float64(x.docs)-n+0.5)/(n+0.5)))
}

// saturate returns the weight of a word that occurs count times in a document.
func saturate(count float64) float64 { return count * (saturation + 1) / (saturation + count) }

// variant is a term of the index that a word of the question matches.
type variant struct {
	term    int32
	weight  float64
	synonym bool // a different word of the same meaning
}

// variants returns the terms that a word of the question matches: the word itself and words of the same meaning; only
// if there are none, words that look like it.
func (x *Index) variants(a queryWord) []variant {
	var out []variant
	if id, ok := x.terms[a.word]; ok {
		out = append(out, variant{id, 1, false})
	}
	for _, other := range synonymsOf()[a.word] {
		if id, ok := x.terms[other]; ok {
			weight := synonymFactor
			if other[0] < 0x80 && a.word[0] >= 0x80 {
				weight *= crossLanguageFactor
			}
			out = append(out, variant{id, weight, true})
		}
	}
	for _, part := range a.parts {
		if id, ok := x.terms[part]; ok {
			out = append(out, variant{id, similarFactor, false})
		}
	}
	if out != nil || len(a.word) < 4 || a.word[0] >= 0x80 {
		return out
	}
	for i := 3; i <= len(a.raw)-3; i++ {
		first, ok := x.terms[stemOf(a.raw[:i])]
		second, and := x.terms[stemOf(a.raw[i:])]
		if ok && and {
			return append(out, variant{first, similarFactor, false}, variant{second, similarFactor, false})
		}
	}
	at, _ := slices.BinarySearch(x.sorted, a.word[:4])
	for _, other := range x.sorted[at:] {
		if other[:min(4, len(other))] != a.word[:4] {
			break
		}
		if isSimilar(a.word, other) {
			out = append(out, variant{x.terms[other], similarFactor, false})
		}
	}
	return out
}

// isSimilar reports whether one word is a prefix of the other, or whether they differ by one letter or one swap of
// neighbouring letters.
func isSimilar(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch {
	case i == len(a):
		return true
	case len(a) == len(b):
		return a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	case len(b) == len(a)+1:
		return a[i:] == b[i+1:]
	}
	return false
}
