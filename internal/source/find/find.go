// Package find ranks actions by how well they answer a question in words, English or Chinese.
//
// It is BM25 over the fields of an action, each with a weight of its own (Robertson and Zaragoza's BM25F), with what lists of
// tools need beside it: words that mean the same to whoever asks for a tool ("delete" and "remove") find each other, also
// across the two languages; a word that no action has finds those that look like it; words of everyday English count
// little, however rare they are among tools; and it counts how much of an action's name the question explains.
// Everything is in memory, and nothing is learned: the same documents and the same question give the same order.
package find

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Doc is what is known of one action.
type Doc struct {
	Server      string   // the Tool it belongs to
	Name        string   // as its source calls it
	Title       string   // may be empty
	Description string   // may be empty, may be long
	Params      []string // names of its arguments
	Values      string   // what its schema says of them: descriptions and values; may be empty
	About       string   // what the person who runs Collie says its server is for; may be empty
}

// Hit is a document that answers a question.
type Hit struct {
	Doc   int // its index in what [New] was given
	Score float64
}

// The fields, and what a word in each of them counts.
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

// spread is how much a long field makes a word in it count less, from 0 to 1.
var spread = [fields]float32{inName: 0.4, inTitle: 0.4, inHead: 0.5, inBody: 0.8, inParams: 0.6, inValues: 0.15, inServer: 0}

const (
	// saturation is BM25's k1: how fast a word that stands often counts no more.
	saturation = 2.2
	// related is what another word of the same meaning counts, and similar one that only looks like it.
	related, similar = 0.8, 0.5
	// commonly is what a word of everyday English counts, and crossing a pair of characters that is not a known word.
	commonly, crossing = 0.4, 0.3
	// coverage is how much it counts that a document has many words of the question, and not one of them often, and named
	// how much it counts that the question has many words of the name.
	coverage, named = 0.45, 0.36
	// agrees and differs are what it counts that an action does what is asked for, and that one of both reads only.
	agrees, differs = 1.1, 0.95
	// rarest bounds how much a word can count for being rare.
	rarest = 4.7
	// mention is what a word must count in a document for that to be about it.
	mention = 2.6
	// again is what a word of a document counts for a second word of the question, and foreign one of another language.
	again, foreign = 0.17, 0.8
	// verbal is what a word counts that says what is to be done, and not to what.
	verbal = 0.6
	// formed is what it counts that a word of the question stands in the name as it is, with its ending.
	formed = 0.28
)

// Index is a set of documents made ready. It is immutable, and safe for concurrent use.
type Index struct {
	docs     int
	deeds    []deeds            // what the name of each document says that it does
	names    []float64          // how rare the words of the name of each document are together
	terms    map[string]int32   // index into postings
	postings [][]posting        // by document, ascending
	spreads  []float64          // in how many documents a term stands, those that only mention it counted less
	forms    map[string][]int32 // the documents that have a word with its ending in their name
	sorted   []string           // the terms in order, to find those that begin alike
}

type posting struct {
	doc   int32
	named bool    // it stands in the name
	count float32 // weighted over the fields
}

// New makes an index of documents. It takes time in proportion to their text, about 20 µs for a usual one, and keeps
// none of them.
func New(docs []Doc) *Index {
	x := &Index{docs: len(docs), deeds: make([]deeds, len(docs)), names: make([]float64, len(docs)), terms: map[string]int32{}, forms: map[string][]int32{}}
	var lengths [fields]float32
	type occurrence struct{ term, field int32 }
	all := make([][]occurrence, len(docs))
	each := make([][fields]float32, len(docs))
	shared := prefixes(docs)
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
		x.deeds[i] = deedsOf(s.found)
		scan(d.Name[prefix:], func(word string) {
			word = lower(word)
			if list := x.forms[word]; len(list) == 0 || list[len(list)-1] != int32(i) {
				x.forms[word] = append(list, int32(i))
			}
		}, func(string) {})
		add(inTitle, d.Title)
		add(inHead, head)
		add(inBody, cut(body))
		for _, p := range d.Params {
			add(inParams, p)
		}
		add(inValues, cut(d.Values))
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
			part := weights[f] / (1 - spread[f] + spread[f]*each[i][f]/lengths[f])
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
			x.spreads[term] += x.weighs(p)
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

// prefixes are how many bytes the names of all actions of a server begin with alike, up to a mark: "linear_", "API-".
func prefixes(docs []Doc) map[string]int {
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

// Search returns the documents that answer a question best, at most limit, the best first. Documents that are equally good
// stand in the order they were given in. A question without any word in it has no answer.
func (x *Index) Search(text string, limit int) []Hit {
	if lower := " " + strings.ToLower(text) + " "; turns().Replace(lower) != lower {
		text = turns().Replace(lower) // else its capitals tell the words of names apart
	}
	words, every := question(text)
	wanted := deedsOf(every)
	if len(words) == 0 || limit <= 0 {
		return nil
	}
	total := make([]float64, x.docs)
	best, counts := make([]float64, x.docs), make([]float64, x.docs) // for one word of the question
	met := make([]float64, x.docs)                                   // importance of the words that a document has
	inNames, inName := make([]float64, x.docs), make([]float64, x.docs)
	var touched []int32
	all := 0.0
	each := make([][]variant, len(words))
	type claim struct {
		word   int
		weight float64
	}
	claims := map[int32]claim{}
	for i, word := range words {
		each[i] = x.variants(word)
		for _, v := range each[i] {
			if weight := v.weight * word.weight; weight > claims[v.term].weight {
				claims[v.term] = claim{i, weight}
			}
		}
	}
	for i, word := range words {
		variants := each[i]
		for j := range variants {
			if claims[variants[j].term].word != i {
				variants[j].weight *= again
			}
		}
		importance := 0.0
		for _, v := range variants { // the word itself and what looks like it, each by its own rarity
			rarity := x.rarity(x.spreads[v.term])
			for _, p := range x.postings[v.term] {
				if best[p.doc] == 0 && counts[p.doc] == 0 {
					touched = append(touched, p.doc)
				}
				if v.meant {
					counts[p.doc] += float64(p.count) * v.weight
				} else {
					best[p.doc] = max(best[p.doc], v.weight*rarity*saturated(float64(p.count)))
					counts[p.doc] += float64(p.count) * v.weight
				}
				if p.named {
					inName[p.doc] = max(inName[p.doc], v.weight*rarity)
				}
			}
			if !v.meant {
				importance = max(importance, rarity*v.weight)
			}
		}
		n := 0.0
		for _, d := range touched {
			n += min(1, counts[d]/mention)
		}
		rarity := x.rarity(n) // of all of its meaning, as if they were one word
		importance = max(importance, rarity*related)
		for _, d := range x.forms[word.raw] {
			total[d] += formed * rarity * word.weight
		}
		for _, d := range touched {
			best[d] = max(best[d], rarity*saturated(counts[d]))
			total[d] += best[d] * word.weight
			met[d] += min(importance, max(rarity*related, best[d])) * word.weight
			inNames[d] += inName[d]
			best[d], counts[d], inName[d] = 0, 0, 0
		}
		all += importance * word.weight
		touched = touched[:0]
	}
	var hits []Hit
	for d, t := range total {
		if t > 0 {
			t *= 1 - coverage + coverage*met[d]/all
			if x.names[d] > 0 {
				t *= 1 - named + named*min(1, inNames[d]/x.names[d])
			}
			hits = append(hits, Hit{d, t * fits(wanted, x.deeds[d])})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(limit, len(hits))]
}

// weighs is how much a posting counts as one of a document that is about its term.
func (x *Index) weighs(p posting) float64 { return min(1, float64(p.count)/mention) }

// rarity is how much it tells that a document has a word that n documents have.
func (x *Index) rarity(n float64) float64 {
	return min(rarest, math.Log(1+(float64(x.docs)-n+0.5)/(n+0.5)))
}

// saturated is what a word counts that stands in a document so often.
func saturated(count float64) float64 { return count * (saturation + 1) / (saturation + count) }

// variant is a word of the documents that a word of a question finds.
type variant struct {
	term   int32
	weight float64
	meant  bool // it is another word of its meaning
}

// variants are the words of the documents that a word of a question finds: itself, those of its meaning, and where there
// are none those that look like it.
func (x *Index) variants(a asked) []variant {
	var out []variant
	if id, ok := x.terms[a.word]; ok {
		out = append(out, variant{id, 1, false})
	}
	for _, other := range meanings()[a.word] {
		if id, ok := x.terms[other]; ok {
			weight := related
			if other[0] < 0x80 && a.word[0] >= 0x80 {
				weight *= foreign
			}
			out = append(out, variant{id, weight, true})
		}
	}
	for _, part := range a.parts {
		if id, ok := x.terms[part]; ok {
			out = append(out, variant{id, similar, false})
		}
	}
	if out != nil || len(a.word) < 4 || a.word[0] >= 0x80 {
		return out
	}
	for i := 3; i <= len(a.raw)-3; i++ {
		first, ok := x.terms[base(a.raw[:i])]
		second, and := x.terms[base(a.raw[i:])]
		if ok && and {
			return append(out, variant{first, similar, false}, variant{second, similar, false})
		}
	}
	at, _ := slices.BinarySearch(x.sorted, a.word[:4])
	for _, other := range x.sorted[at:] {
		if other[:min(4, len(other))] != a.word[:4] {
			break
		}
		if alike(a.word, other) {
			out = append(out, variant{x.terms[other], similar, false})
		}
	}
	return out
}

// alike reports whether one word begins with the other, or whether they differ in one letter or two neighbours that
// changed places.
func alike(a, b string) bool {
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
