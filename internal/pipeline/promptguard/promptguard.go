// Package promptguard tells texts that give orders to a model which reads them: results of tools, notes, pages, mails.
// It is a judge by fixed rules, with no model and nobody asked, and the same text is judged the same way each time. It
// finds what is worded as an order in English or Chinese, sentences made of the words that such orders have, forged roles
// and markers, addresses that carry data away, characters that nobody sees, and all of that in base64, hexadecimal, percent
// encoding, numbers of characters, moved letters (rot13) or backwards. It cannot find an order that is worded as nobody has
// thought of; what it finds is a reason to be careful, and what it does not find proves nothing.
//
// The entry point is [Scan].
package promptguard

import "slices"

// Verdict is what a text is.
type Verdict uint8

// The verdicts, from the best to the worst.
const (
	Clean      Verdict = iota
	Suspicious         // a person or a model should look twice
	Malicious          // it is made to give orders
)

// String returns clean, suspicious or malicious.
func (v Verdict) String() string { return [...]string{"clean", "suspicious", "malicious"}[v] }

// Reason is one thing that was found.
type Reason struct {
	Rule       string // such as override.prior
	Start, End int    // where in the text, in bytes
}

// Result is what [Scan] found. The zero value is that of a clean text.
type Result struct {
	Verdict Verdict
	Reasons []Reason // in the order of the text, at most 16, each rule once
}

const (
	suspiciousFrom = 4  // points
	maliciousFrom  = 12 // points, of more than one rule
	maxReasons     = 16
	maxDecoded     = 64 << 10 // bytes of one text that are decoded
	maxLayers      = 2        // of encodings
)

// Scan judges text. It needs no more than a few nanoseconds a byte, and allocates nothing for most texts with nothing in
// them. It is safe for concurrent use.
func Scan(text string) Result {
	var f found
	f.scan(text, 0)
	return f.result()
}

// found is what was found so far.
type found struct {
	points  int
	reasons []Reason
	decoded int
}

// add counts a rule once.
func (f *found) add(rule string, weight, start, end int) {
	if weight <= 0 || f.has(rule) {
		return
	}
	f.points += weight
	if len(f.reasons) < maxReasons {
		f.reasons = append(f.reasons, Reason{rule, start, end})
	}
}

func (f *found) has(rule string) bool {
	return slices.ContainsFunc(f.reasons, func(r Reason) bool { return r.Rule == rule })
}

func (f *found) result() Result {
	switch {
	case f.points < suspiciousFrom:
		return Result{}
	case f.points >= maliciousFrom && len(f.reasons) > 1:
		return Result{Malicious, f.reasons}
	}
	return Result{Suspicious, f.reasons}
}

// scan judges text, which lies layers of encodings deep.
func (f *found) scan(text string, layer int) {
	t := built()
	plain, at := unfold(text, f)
	s := sentences{tables: t, found: f, text: plain, at: at}
	s.read()
	f.roles(plain, at)
	if layer < maxLayers {
		f.otherwise(plain, s.rotations, s.turns, layer, origin(at, len(plain)))
		f.encodings(text, layer)
	}
}
