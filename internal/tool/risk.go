package tool

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file rates the risk and the effects of an action, by its declaration or else by its name.

// Risk is how much harm an action can do. The zero value means that its author did not declare it.
type Risk string

// The risks in rising order. An action with a declared risk of high or critical runs only after its start record is on
// disk.
const (
	RiskUnknown  Risk = ""
	RiskNone     Risk = "none"     // it only reads what the caller may see
	RiskLow      Risk = "low"      // it adds something, or can be undone
	RiskMedium   Risk = "medium"   // it overwrites or moves, or the risk is unknown
	RiskHigh     Risk = "high"     // it deletes, runs, sends or pays
	RiskCritical Risk = "critical" // it cannot be undone, or changes permissions
)

// WaitsForDisk reports whether the start record of such an action must be on disk before the action runs.
func (r Risk) WaitsForDisk() bool { return r == RiskHigh || r == RiskCritical }

// Raised returns the next higher risk. The highest and unknown ones stay the same.
func (r Risk) Raised() Risk {
	rising := []Risk{RiskNone, RiskLow, RiskMedium, RiskHigh, RiskCritical, RiskCritical}
	if i := slices.Index(rising, r); i >= 0 {
		return rising[i+1]
	}
	return r
}

// Effects is a set of kinds of effect that an action has.
type Effects uint8

// The effects.
const (
	EffectRead    Effects = 1 << iota
	EffectWrite           // changes data
	EffectDelete          // removes data
	EffectExecute         // runs programs or code
	EffectEgress          // sends data elsewhere
	EffectCost            // costs money or quota
	EffectUI              // changes a user interface
)

var effectNames = []string{"read", "write", "delete", "execute", "egress", "cost", "ui"}

// Has reports whether e and any have an effect in common.
func (e Effects) Has(any Effects) bool { return e&any != 0 }

// Names returns the names of the effects.
func (e Effects) Names() []string {
	var names []string
	for i, name := range effectNames {
		if e.Has(1 << i) {
			names = append(names, name)
		}
	}
	return names
}

// String separates the names of the effects by spaces.
func (e Effects) String() string { return strings.Join(e.Names(), " ") }

// riskWords maps words in a tool's name, or at the beginning of its description, to effects. Each entry is a list of
// words: stems of English verbs and whole Chinese words.
var riskWords = [...]struct {
	effects Effects
	words   string
}{
	{EffectWrite | EffectDelete, " delete remove destroy drop purge erase wipe truncate clear uninstall unlink rm rmdir del revoke reset trash 删除 移除 清空 销毁 卸载 "},
	{EffectExecute, " exec execute run eval evaluate shell bash sh zsh powershell cmd command terminal spawn script invoke sudo kill install 执行 运行 终端 "},
	{EffectEgress, " send post publish tweet notify upload share forward broadcast reply invite 发送 发布 上传 分享 转发 "},
	{EffectCost, " pay purchase buy charge checkout refund transfer 支付 付款 购买 退款 转账 "},
}

// Rated returns the risk and the effects of the action: those declared or, if there are none, those that its name and
// description suggest. Since these are unverified claims, they raise the risk more easily than they lower it. A tool
// has no risk only if it claims to be read-only, its definition is the accepted one and its name does not contradict.
// It has high risk if it calls itself destructive, if its name mentions deleting, running, sending or paying, or if it does
// not claim to be read-only and its description begins with such a word. Otherwise its risk is medium.
func (a *Action) Rated() (Risk, Effects) {
	if a.Risk != RiskUnknown {
		return a.Risk, a.Effects
	}
	nameEffects := effectsInText(a.Name, false)
	switch {
	case a.ReadOnly && nameEffects == 0 && !a.Changed && !a.Destructive:
		return RiskNone, EffectRead
	case nameEffects != 0:
		return RiskHigh, nameEffects
	}
	if told := effectsInText(cmp.Or(a.Authored, a.Description), true); told != 0 && !a.ReadOnly {
		return RiskHigh, told
	}
	if a.Destructive {
		return RiskHigh, EffectWrite | EffectDelete
	}
	return RiskMedium, EffectRead | EffectWrite
}

// effectsInText returns the effects that the words of text stand for, or only the first word if first is set.
func effectsInText(text string, first bool) (e Effects) {
	for text != "" {
		var word string
		if word, text = nextWord(text); word == "" {
			break
		}
		e |= effectsOfWord(strings.ToLower(word), first)
		if first {
			break
		}
	}
	return e
}

// effectsOfWord returns the effects that a word in lower case stands for. Han text has no blanks between words, so one
// of them may stand anywhere in it or, if first is set, at its beginning.
func effectsOfWord(word string, first bool) (e Effects) {
	for i := range riskWords {
		words := riskWords[i].words
		if strings.Contains(words, " "+word+" ") {
			e |= riskWords[i].effects
			continue
		}
		for _, end := range [...]string{"s", "es", "d", "ed", "ing"} {
			if stem, ok := strings.CutSuffix(word, end); ok && strings.Contains(words, " "+stem+" ") {
				e |= riskWords[i].effects
			}
		}
		if hanWord(word, words, first) {
			e |= riskWords[i].effects
		}
	}
	return e
}

// hanWord reports whether Han text has one of the words in a list in it or, if first is set, at its beginning.
func hanWord(text, list string, first bool) bool {
	if text[0] < utf8.RuneSelf {
		return false
	}
	for known := range strings.FieldsSeq(list) {
		if known[0] >= utf8.RuneSelf && (strings.HasPrefix(text, known) || !first && strings.Contains(text, known)) {
			return true
		}
	}
	return false
}

// nextWord returns the first word of text, and the rest. It ends where case rises (deleteFile), before the last capital
// of several (DBDelete), between Han and other letters, or where letters end.
func nextWord(text string) (word, rest string) {
	start, last := -1, ' '
	for i, r := range text {
		switch letter := unicode.IsLetter(r); {
		case start < 0 && letter:
			start = i
		case start >= 0 && (!letter || beginsWord(last, r, text[i+utf8.RuneLen(r):])):
			return text[start:i], text[i:]
		}
		last = r
	}
	if start < 0 {
		return "", ""
	}
	return text[start:], ""
}

// beginsWord reports whether the letter r begins a word between the letter before it and rest.
func beginsWord(before, r rune, rest string) bool {
	if unicode.Is(unicode.Han, before) != unicode.Is(unicode.Han, r) {
		return true
	}
	if !unicode.IsUpper(r) || !unicode.IsUpper(before) {
		return unicode.IsUpper(r) && unicode.IsLower(before)
	}
	next, n := utf8.DecodeRuneInString(rest)
	after, _ := utf8.DecodeRuneInString(rest[n:])
	return unicode.IsLower(next) && (next != 's' || unicode.IsLower(after)) // URLs is one word
}
