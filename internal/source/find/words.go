package find

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// This file splits texts into words for the index: stems of English words, known words in Chinese text.

// scanner splits texts into words. It reuses its memory from one text to the next.
type scanner struct {
	found []string
	bases map[string]string // stems of the words met so far
}

// words returns the words of text in lower case and without their endings. A word is a run of letters or of digits;
// names like readFile and read_file are two words. Chinese, Japanese and Korean are written without gaps, so each
// pair of neighbouring characters is a word there, and each Chinese word that the tables of meanings know. The result
// is valid until the next call.
func (s *scanner) words(text string) []string {
	s.found = s.found[:0]
	scanRuns(text, func(word string) {
		if word = lowerCut(word); len(word) < 2 || stopWords[word] {
			return
		}
		stem, ok := s.bases[word]
		if !ok {
			if s.bases == nil {
				s.bases = map[string]string{}
			}
			stem = stemOf(word)
			s.bases[word] = stem
		}
		s.found = append(s.found, stem)
	}, func(run string) {
		eachPair(run, func(pair string, _ int) { s.found = append(s.found, pair) })
		eachSegment(run, func(word string, known bool) {
			if known && utf8.RuneCountInString(word) != 2 && !stopWords[word] {
				s.found = append(s.found, word)
			}
		})
	})
	return s.found
}

// queryWord is a word of a question.
type queryWord struct {
	word   string
	raw    string // in lower case, with its ending
	weight float64
	parts  []string // for a Chinese word of more than two characters: its pairs
}

// parseQuestion splits a question into words to search for. all has every word in order, stop words too, for verbsOf.
func parseQuestion(text string) (words []queryWord, all []string) {
	add := func(a queryWord) {
		for i := range words {
			if words[i].word == a.word {
				words[i].weight = max(words[i].weight, a.weight)
				return
			}
		}
		words = append(words, a)
	}
	scanRuns(text, func(word string) {
		raw := lowerCut(word)
		stem := stemOf(raw)
		all = append(all, stem)
		switch {
		case len(raw) < 2 || stopWords[raw]:
		case commonWords[raw]:
			add(queryWord{word: stem, raw: raw, weight: commonFactor})
		case verbOf()[stem] != 0:
			add(queryWord{word: stem, raw: raw, weight: verbWordFactor})
		default:
			add(queryWord{word: stem, raw: raw, weight: 1})
		}
	}, func(run string) {
		var inside [256]bool // the pair at this byte is part of a known word, or touches a stop word
		at := 0
		eachSegment(run, func(word string, known bool) {
			from := at
			at += len(word)
			if !known {
				return
			}
			all = append(all, word)
			if stopWords[word] {
				for i := max(0, from-3); i < at && i < len(inside); i++ {
					inside[i] = true
				}
				return
			}
			for i := from; i < at-3 && i < len(inside); i++ {
				inside[i] = true
			}
			a := queryWord{word: word, weight: 1}
			if verbOf()[word] != 0 {
				a.weight = verbWordFactor
			}
			if utf8.RuneCountInString(word) > 2 {
				eachPair(word, func(pair string, _ int) { a.parts = append(a.parts, pair) })
			}
			add(a)
		})
		eachPair(run, func(pair string, at int) {
			if at >= len(inside) || !inside[at] {
				add(queryWord{word: pair, weight: pairFactor})
			}
		})
	})
	return words, all
}

// scanRuns calls word for each run of letters and digits in text, and run for each run of characters of a script without
// gaps.
func scanRuns(text string, word, run func(string)) {
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		n := size
		switch {
		case isUnspaced(r):
			n = indexFunc(text, func(r rune) bool { return !isUnspaced(r) })
			run(text[:n])
		case unicode.IsDigit(r):
			n = indexFunc(text, func(r rune) bool { return !unicode.IsDigit(r) })
			word(text[:n])
		case unicode.IsLetter(r):
			n = wordEnd(text)
			word(text[:n])
		}
		text = text[n:]
	}
}

func indexFunc(text string, end func(rune) bool) int {
	if n := strings.IndexFunc(text, end); n >= 0 {
		return n
	}
	return len(text)
}

// wordEnd returns the end of the first word of text: before a capital that follows a small letter, and before the
// last of several capitals if a small letter follows it.
func wordEnd(text string) int {
	var before rune
	start := 0 // start of the previous rune
	for i, r := range text {
		if r == '\'' || r == '’' { // as in isn't, page's
			continue
		}
		switch {
		case !unicode.IsLetter(r) || isUnspaced(r):
			return i
		case i > 0 && unicode.IsUpper(r) && unicode.IsLower(before):
			return i
		case i > 1 && unicode.IsLower(r) && unicode.IsUpper(before) && start > 0 && upperBefore(text[:start]):
			return start
		}
		before, start = r, i
	}
	return len(text)
}

func upperBefore(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsUpper(r)
}

// lowerCut returns a word in lower case, cut at an apostrophe.
func lowerCut(word string) string {
	word = strings.ToLower(word)
	if i := strings.IndexAny(word, "'’"); i >= 0 {
		word = word[:i]
	}
	return word
}

// stemOf returns the stem of a lower-case English word. Words of other languages stay as they are.
func stemOf(word string) string {
	if w, ok := irregularStem()[word]; ok {
		word = w
	}
	return english.Stem(word, true)
}

// eachPair calls each for every pair of neighbouring characters in run, with its position in bytes. A single character
// is passed on alone.
func eachPair(run string, each func(pair string, at int)) {
	_, first := utf8.DecodeRuneInString(run)
	if first == len(run) {
		each(run, 0)
		return
	}
	for begin := 0; ; {
		_, a := utf8.DecodeRuneInString(run[begin:])
		_, b := utf8.DecodeRuneInString(run[begin+a:])
		each(run[begin:begin+a+b], begin)
		if begin += a; begin+b == len(run) {
			return
		}
	}
}

// eachSegment splits a run of characters, from the left, into the longest known words and what lies between them.
func eachSegment(run string, each func(word string, known bool)) {
	words, longest := chineseWords()
	for run != "" {
		n := min(longest, len(run))
		for n > 0 && !words[run[:n]] {
			_, size := utf8.DecodeLastRuneInString(run[:n])
			n -= size
		}
		if n > 0 {
			each(run[:n], true)
		} else {
			_, n = utf8.DecodeRuneInString(run)
			each(run[:n], false)
		}
		run = run[n:]
	}
}

// chineseWords returns the known Chinese words and the length in bytes of the longest.
var chineseWords = sync.OnceValues(func() (map[string]bool, int) {
	words, longest := map[string]bool{}, 0
	add := func(w string) {
		if w[0] >= 0xe0 {
			words[w] = true
			longest = max(longest, len(w))
		}
	}
	for w := range synonymsOf() {
		add(w)
	}
	for w := range stopWords {
		add(w)
	}
	for w := range verbOf() {
		add(w)
	}
	return words, longest
})

// isUnspaced reports whether r belongs to a script that is written without gaps.
func isUnspaced(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// firstSentence splits text after its first sentence or line.
func firstSentence(text string) (first, rest string) {
	text = strings.TrimSpace(text)
	for i, r := range text {
		if r == '\n' || r == '。' || r == '！' || r == '；' {
			return text[:i], text[i:]
		}
		if r == '.' && i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\n') && i >= 20 {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// leadingText returns the beginning of a long text. The later parts describe details rather than the purpose, and would
// mislead the ranking.
func leadingText(text string) string {
	const limit = 600
	if len(text) <= limit {
		return text
	}
	return text[:limit+strings.IndexByte(text[limit:]+" ", ' ')]
}

// stopWords are words of any question that do not tell actions apart.
var stopWords = set(`
a an and any are as at be been but by can could did do does for from had has have he her here his how i if in into is it
its let like may me might my of on one or our out please she should so some that the their them then there these
they this those through to too us very was we were what when where while whom whose why will with would you
your using use via just only also now currently want wants something anything someone somebody
thing things way kind certain specific particular existing much few more most than such being am
without inside under over within across up down off onto there's what's it's don doesn didn isn ve ll re
about not no yes each other others again ever every yet still already soon later need needs needed
help able d s t m okay ok hi hey thanks thank
请 请帮 请帮我 帮 帮我 帮忙 我 我们 我想 想要 我要 我的 想 要 要把 需要 希望 能 能不能 能否 可以 可不可以 可否 如何 怎么 怎样 怎么样 怎么办 什么 为什么 哪 哪个
哪里 哪儿 一下 下 一个 一些 一 个 这个 那个 这 那 这些 那些 这里 那里 你 你的 他 他的 她 她的 它 它的 他们 大家 自己的 的 地 得 了 着 过 吗 呢 吧 啊 呀 嘛 把 被
给 给我 在 里 里的 到 和 与 及 跟 同 是 不是 有 没有 有没有 对 从 向 为 让 用 就 也 都 还 再 又 很 太 最 更 将 并 或 或者 等等 以及 其 该 此 时 后 前 之 所 于 以 因 由
现在 目前 然后 先 已经 正在 刚才 刚刚 上 上面 中 来 去 会不会 应该 如果 的话 指定 调用 接口 本接口 身份 相关 使用 进行 支持 这样 那样 怎 啥
`)

// commonWords are words of everyday English: a match of one says little, even if few tools have it.
var commonWords = set(`
which who
make makes made making take takes took taken taking put puts putting come comes came go goes going went gone give gives gave given
tell tells told say says said keep kept leave left bring brought work works working worked happen happens happened
happening going turn turned back away together apart along around before after since between during until against
new newest old another same different whole full half own else next last first second third two three four five six ten
long short big small large little good better best bad wrong right ready easy hard quick quickly fast properly
today yesterday tomorrow week month year day days hour hours minute minutes time times once twice often recently lately
many several multiple all both none nothing everything everyone everybody everywhere nobody
place part piece bit lot stuff point case side top end start begin name called call thing
know knows think see seen saw look looks looking show shows find found try tried like want wish please
get gets got getting have having sure really actually maybe perhaps instead together exactly
current currently mine yours somewhere mistake accident later ago
specified based provided given following available one ones certain type types item items
`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// irregularStem maps forms of a word that the stemmer does not recognize, and abbreviations, to the base form.
var irregularStem = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(`
make made
run ran
write wrote written
send sent
find found
go went gone goes
take took taken
give gave given
get got gotten
leave left
see saw seen
say said
tell told
keep kept
hold held
build built
lose lost loss
break broke broken
choose chose chosen choice
child children
person people persons
index indices indexes
pay paid payment
begin began begun
hide hid hidden
forget forgot forgotten
sell sold
show shown
do did done
buy bought
meet met
draw drew drawn
think thought
know knew known
bring brought
spend spent
drive drove driven
speak spoke spoken
undo undid undone
delete deletion
remove removal
archive archival
approve approval
compare comparison
describe description descriptions
subscribe subscription subscriptions
permit permission
reply replies replied
retrieve retrieval
synchronize synchronise sync synced
analyze analyse analysis analyses
organization organisation organizations organisations org
summarize summarise summary summaries
repository repo repos repositories
configure config configuration configurations configs
document doc docs documents
documentation
database db databases
directory dir dirs directories
administrator admin admins administrators
application app apps applications
authenticate auth authentication
information info
image img images
picture pic pics pictures
message msg messages
attribute attr attributes
parameter param params parameters
environment env environments
kubernetes k8s
javascript js
definition def define
attend attendance
difference diff diffs differ differs different differences
screenshot screenshots
`) {
		words := strings.Fields(line)
		for _, w := range words[min(1, len(words)):] {
			out[w] = words[0]
		}
	}
	return out
})

// phraseReplacer replaces phrases that people use by the one word that tools use.
var phraseReplacer = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for line := range strings.Lines(phrases) {
		word, phrases, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		for phrase := range strings.SplitSeq(phrases, ", ") {
			pairs = append(pairs, " "+phrase+" ", " "+word+" ")
		}
	}
	return strings.NewReplacer(pairs...)
})

// phrases has a word on each line, and the phrases that it replaces.
const phrases = `
count: how many, number of
size: how much, how big, how large
delete: get rid of, throw away, throw out, throws away, cross out, toss out
search: look for, look up, looking for, search for, look through, hunt for, looks for, query for
which: what are, what is in, what's in, which are, what all
restore: put back, bring back, get back, brought back, take back, took back, pull back
monitor: tell me when, let me know when, notify me when, keep an eye on, keep watch on, watch for, tell me if, warn me when, be told when, alert me when
checkout: switch to, check out, checked out, checks out, change to branch
setup: set up, sets up, setting up
login: sign in, signed in, log in, logged in, signing in, logging in, log into, sign into
logout: log out, sign out, log me out, sign me out, signed out, logged out, log off, sign off from
stop: shut down, shuts down, turn off, switch off, shutting down, give up on, call off
start: turn on, switch on, kick off, fire up, spin up, start up, get going
fill: fill in, fill out, filling in, filling out, key in
get: find out, get hold of, give me, let me see, pull up, bring up, take a look at, have a look at, let me look at, look at
copy: make a copy, make copies, make a copy of, another copy of
screenshot: take a picture, take a photo, picture of the screen, screen shot, screen capture, what the page looks like, how the page looks
rollback: roll back, rolled back, go back to the previous version, back to the previous version, back to an earlier version
navigate: go to, get to, head to, jump to
update: bring up to date, keep up to date, up to date
stash: put aside, set aside, put away, shelve for now
remove: take off, take out, kick out, kick off the, take away, leave out, cross off
complete: tick off, check off, mark as done, mark done, mark as finished, wrap up, mark it done, close off
transfer: hand over, hand it over, pass on, pass to, hand off, give to
write: write down, note down, jot down, put down
run: carry out
viewer: who am i, about me, my own account, my account, my user, my own profile, my profile, which account am i
blame: who wrote, who changed, who last changed, who last touched, who touched, who edited, who last edited
multiple: in one go, at once, all at once, at the same time, a bunch of, a few, a couple of, several, in bulk, in one request, one go
member: who is in, who's in, who is on, who's on, who works on, who belongs to, who are in, belong to, belongs to, who takes part
permission: who can, who may, who has access, allowed to, able to see
location: where is, where are
status: how far along, is it done, is it finished, how is, how are, up and running, still running, is still
split: break down, break up, break apart
clean: clean up, tidy up, cleans up, cleaning up
sum: add up, adds up, total up
backup: back up, backs up
optimize: speed up, make faster, run faster
vacation: out of office, day off, days off, on leave, time off
webpage: web page, web pages
website: web site, web sites
dropdown: drop down, drop-down
popup: pop up, pop-up, popped up, pops up
appear: shows up, show up, comes up, turn up, turns up
nearby: close to, near me, around here, close by, around me
shared: in common
track: keep track of
resolve: sort out, work out
handle: deal with, take care of, respond to the
todo: to do list, to-do
commit: check in
limit: cut off
publish: put online, go live, make public, take live, make it public
meaning: similar in meaning, by meaning, means the same, mean the same
explain: what does it mean, stand for, stands for, what it means
pull: catch up
hover: mouse over, move the mouse over, move the mouse, point at
drag: pull onto, drag and drop
reply: get back to, write back, answer to
invite: ask to join, bring in
subscribe: sign up for
archive: file away, put into storage
compare: changed between, difference between, differences between, differ between
undo: take back the, go back on
connect: hook up
merge: bring into, bring together, put together
assign: give this to, put in charge of, make responsible for
rename: another name, give a new name, new name, change the name, change the name of, change name
report: write-up
headline: in the news
exist: there are
sync: in sync
previous: go back, going back, one step back
append: at the end, to the end
`
