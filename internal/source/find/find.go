// Package find ranks actions by how well they answer a question in words, English or Chinese.
//
// It is BM25 over the fields of an action, each with a weight of its own (Robertson and Zaragoza's BM25F), with two
// things added that lists of tools need: words that mean the same to whoever asks for a tool ("delete" and "remove") find
// each other, and a word that no action has finds those that begin like it. Everything is in memory, and nothing is
// learned: the same documents and the same question give the same order.
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

var weights = [fields]float32{inName: 3, inTitle: 2, inHead: 1.6, inBody: 0.5, inParams: 0.5, inValues: 0.3, inServer: 1}

// spread is how much a long field makes a word in it count less, from 0 to 1.
var spread = [fields]float32{inName: 0.4, inTitle: 0.4, inHead: 0.5, inBody: 0.8, inParams: 0.6, inValues: 0.9, inServer: 0}

const (
	// saturation is BM25's k1: how fast a word that stands often counts no more.
	saturation = 1.2
	// related is what another word of the same meaning counts, and similar one that only looks like it.
	related, similar = 0.65, 0.5
	// coverage is how much it counts that a document has many words of the question, and not one of them often.
	coverage = 0.6
	// agrees and differs are what it counts that an action does what is asked for, and that one of both reads only.
	agrees, differs = 1.15, 0.8
)

// Index is a set of documents made ready. It is immutable, and safe for concurrent use.
type Index struct {
	docs     int
	deeds    []deeds          // what the name of each document says that it does
	terms    map[string]int32 // index into postings
	postings [][]posting      // by document, ascending
	sorted   []string         // the terms in order, to find those that begin alike
}

type posting struct {
	doc   int32
	count float32 // weighted over the fields
}

// New makes an index of documents. It takes time in proportion to their text, about 20 µs for a usual one, and keeps
// none of them.
func New(docs []Doc) *Index {
	x := &Index{docs: len(docs), deeds: make([]deeds, len(docs)), terms: map[string]int32{}}
	var lengths [fields]float32
	type occurrence struct{ term, field int32 }
	all := make([][]occurrence, len(docs))
	each := make([][fields]float32, len(docs))
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
		add(inName, d.Name)
		x.deeds[i] = deedsOf(s.found)
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
			} else {
				x.postings[o.term] = append(list, posting{int32(i), part})
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

// Search returns the documents that answer a question best, at most limit, the best first. Documents that are equally good
// stand in the order they were given in. A question without any word in it has no answer.
func (x *Index) Search(question string, limit int) []Hit {
	if lower := strings.ToLower(question); turns().Replace(lower) != lower {
		question = turns().Replace(lower) // else its capitals tell the words of names apart
	}
	var s scanner
	asked := slices.Clone(s.words(question))
	wanted := deedsOf((&scanner{all: true}).words(question))
	slices.Sort(asked)
	asked = slices.Compact(asked)
	if len(asked) == 0 || limit <= 0 {
		return nil
	}
	total := make([]float64, x.docs)
	best, counts := make([]float64, x.docs), make([]float64, x.docs) // for one word of the question
	met := make([]float64, x.docs)                                   // importance of the words that a document has
	var touched []int32
	all := 0.0
	for _, word := range asked {
		variants := x.variants(word)
		importance := 0.0
		for _, v := range variants { // the word itself and what looks like it, each by its own rarity
			if v.weight == related {
				continue
			}
			rarity := x.rarity(len(x.postings[v.term]))
			importance = max(importance, rarity*v.weight)
			for _, p := range x.postings[v.term] {
				if best[p.doc] == 0 && counts[p.doc] == 0 {
					touched = append(touched, p.doc)
				}
				best[p.doc] = max(best[p.doc], v.weight*rarity*saturated(float64(p.count)))
				counts[p.doc] += float64(p.count) * v.weight
			}
		}
		for _, v := range variants { // all of its meaning, as if they were one word
			if v.weight != related {
				continue
			}
			for _, p := range x.postings[v.term] {
				if best[p.doc] == 0 && counts[p.doc] == 0 {
					touched = append(touched, p.doc)
				}
				counts[p.doc] += float64(p.count) * related
			}
		}
		rarity := x.rarity(len(touched))
		importance = max(importance, rarity*related)
		for _, d := range touched {
			best[d] = max(best[d], rarity*saturated(counts[d]))
			total[d] += best[d]
			met[d] += min(importance, max(rarity*related, best[d]))
			best[d], counts[d] = 0, 0
		}
		all += importance
		touched = touched[:0]
	}
	var hits []Hit
	for d, t := range total {
		if t > 0 {
			hits = append(hits, Hit{d, t * (1 - coverage + coverage*met[d]/all) * fits(wanted, x.deeds[d])})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(limit, len(hits))]
}

// rarity is how much it tells that a document has a word that n documents have.
func (x *Index) rarity(n int) float64 {
	return math.Log(1 + (float64(x.docs)-float64(n)+0.5)/(float64(n)+0.5))
}

// saturated is what a word counts that stands in a document so often.
func saturated(count float64) float64 { return count * (saturation + 1) / (saturation + count) }

// variant is a word of the documents that a word of a question finds.
type variant struct {
	term   int32
	weight float64
}

// variants are the words of the documents that a word of a question finds: itself, those of its meaning, and where there
// are none those that look like it.
func (x *Index) variants(word string) []variant {
	var out []variant
	if id, ok := x.terms[word]; ok {
		out = append(out, variant{id, 1})
	}
	for _, other := range meanings()[word] {
		if id, ok := x.terms[other]; ok {
			out = append(out, variant{id, related})
		}
	}
	if out != nil || len(word) < 4 || word[0] >= 0x80 {
		return out
	}
	at, _ := slices.BinarySearch(x.sorted, word[:4])
	for _, other := range x.sorted[at:] {
		if other[:min(4, len(other))] != word[:4] {
			break
		}
		if alike(word, other) {
			out = append(out, variant{x.terms[other], similar})
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
