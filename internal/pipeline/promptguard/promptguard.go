// Package promptguard detects texts that contain instructions to the model that reads them (prompt injection): results
// of tools, notes, web pages, mails. It uses fixed rules only, so the same text always gets the same verdict. It finds
// instructions in the wording of known attacks, in English and Chinese, sentences made of words that are typical for
// them, forged roles and markers, URLs that carry data away, and invisible characters; and all of these also in base64,
// hexadecimal, percent encoding, character references, rot13 or backwards. A match is a reason to be careful. A text
// without matches may still be an attack, worded in another way.
//
// The entry point is [Scan].
package promptguard

import "slices"

// Verdict says how dangerous a text is to a model.
type Verdict uint8

// The verdicts, from the best to the worst.
const (
	Clean      Verdict = iota
	Suspicious         // a person or a model should check it
	Malicious          // written to give instructions to a model
)

// String returns clean, suspicious or malicious.
func (v Verdict) String() string { return [...]string{"clean", "suspicious", "malicious"}[v] }

// Reason is a match of a rule.
type Reason struct {
	Rule       string // such as override.prior
	Start, End int    // byte offsets in the text
}

// Result is the result of [Scan]. The zero value means a clean text.
type Result struct {
	Verdict Verdict
	Reasons []Reason // at most 16, each rule once
}

const (
	suspiciousFrom = 4  // points
	maliciousFrom  = 12 // points, of more than one rule
	maxReasons     = 16
	maxDecoded     = 64 << 10 // bytes of encoded parts of one text that are decoded
	maxLayers      = 2        // of nested encodings
)

// Scan judges text. It takes a few nanoseconds per byte, and does not allocate for most clean texts. It is safe for
// concurrent use.
func Scan(text string) Result {
	var f matches
	f.scan(text, 0)
	return f.result()
}

// matches collects the matches in a text.
type matches struct {
	points  int
	reasons []Reason
	decoded int

	// For fitting the weights: what weigh has judged, nil if not wanted, and the numbers of words in this sentence and the last.
	windows                *[]window
	numbers, beforeNumbers []uint16
}

// window is the input of weigh: the signs and words in a sentence and the one before it, and the discount for their
// place.
type window struct {
	signs    kinds
	words    []uint16
	discount int
}

// add adds a match unless the rule matched before.
func (f *matches) add(rule string, weight, start, end int) {
	if weight <= 0 || f.has(rule) {
		return
	}
	f.points += weight
	if len(f.reasons) < maxReasons {
		f.reasons = append(f.reasons, Reason{rule, start, end})
	}
}

// has reports whether the rule matched before.
func (f *matches) has(rule string) bool {
	return slices.ContainsFunc(f.reasons, func(r Reason) bool { return r.Rule == rule })
}

// result returns the verdict on all matches.
func (f *matches) result() Result {
	switch {
	case f.points < suspiciousFrom:
		return Result{}
	case f.points >= maliciousFrom && len(f.reasons) > 1:
		return Result{Malicious, f.reasons}
	}
	return Result{Suspicious, f.reasons}
}

// scan scans text, which was found inside this many layers of encodings.
func (f *matches) scan(text string, layer int) {
	t := loadTables()
	plain, at := unfold(text, f)
	s := sentences{tables: t, matches: f, text: plain, at: at}
	s.judgeText()
	f.findRolesAndAddresses(plain, at)
	if layer < maxLayers {
		f.scanTransposed(plain, s.rotations, s.reversals, layer, origin(at, len(plain)))
		f.scanEncoded(text, layer)
	}
}
