package firewall

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// member is what the name of an argument says about its value.
type member struct {
	kind        kind
	isFolder    bool // it may be the folder that a command runs in or that paths are relative to
	isWork      bool // it is such a folder, and nothing that the tool works on
	isPlace     bool // it is a file if it looks like one
	isHost      bool // it may be the host of an address
	isQuery     bool // it is a question, which may be SQL
	isCode      bool // it is code if the tool runs something
	isText      bool // it is code if the tool runs something in a language that its name or another argument tells
	isRuntime   bool // it names the language of code
	isContent   bool // it may be as long as a document
	isArguments bool // it holds the arguments of a command
	isAside     bool // it does not say what runs, but where, for how long or why
}

// maxBytes returns the maximum length of a string in the member.
func (m *member) maxBytes() int {
	if m.isContent {
		return maxContent
	}
	return maxString
}

// memberOf returns what the name of a member says.
func memberOf(name string) *member { return members.get(name, newMember) }

// operationOf returns what the name of an action says.
func operationOf(name string) *operation { return operations.get(name, newOperation) }

var (
	members    nameCache[member]
	operations nameCache[operation]
)

// nameCache caches what names say about arguments or actions, because nearly every call has the same names. The zero value
// is ready; it is safe for concurrent use.
type nameCache[T any] struct {
	known atomic.Pointer[map[string]*T] // never changed, but replaced
	mu    sync.Mutex                    // held to replace it
}

// Limits of the names that are remembered: a client that makes up names must not fill the memory. Those of real tools are a few
// hundred, and short.
const (
	maxRemembered = 1024
	maxName       = 64 // bytes
)

// get returns says(name), which it calls only for a name that it does not remember, and remembers the result.
func (r *nameCache[T]) get(name string, says func(string) *T) *T {
	known := r.known.Load()
	if known != nil {
		if t, ok := (*known)[name]; ok {
			return t
		}
	}
	t := says(name)
	if len(name) > maxName || known != nil && len(*known) >= maxRemembered {
		return t
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next := map[string]*T{strings.Clone(name): t} // name may be a part of a large message
	if known = r.known.Load(); known != nil {
		maps.Copy(next, *known)
	}
	r.known.Store(&next)
	return t
}

func newMember(name string) *member {
	lower := strings.ToLower(name)
	in := func(list string) bool { return !strings.Contains(lower, " ") && strings.Contains(list, " "+lower+" ") }
	return &member{
		kind: kindOf(name), isFolder: workNames[lower] || folderNames[lower], isWork: workNames[lower], isPlace: in(placeNames), isHost: in(hostNames),
		isQuery: lower == "q" || strings.HasSuffix(lower, "query"), isCode: in(codeNames), isText: in(textNames), isRuntime: languageNames[lower],
		isContent:   in(contentNames),
		isArguments: isArguments(name), isAside: workNames[lower] || folderNames[lower] || in(hostNames) || in(asideNames) || isArguments(name),
	}
}

// operation is what the name of an action says about what it does.
type operation struct {
	onlyReads bool // one of its first two words says so, such as read or list
	runs      bool // it runs something
	language  bool // it is called like a language
	shell     bool // it is called like a shell
}

// Words in the names of actions, see [operation].
const (
	readVerbs = " read get list search stat view show find head tail cat glob grep describe inspect 读取 查看 列出 搜索 "
	runVerbs  = " run exec execute eval evaluate "
	languages = " python python3 py javascript js node nodejs typescript ruby perl php lua r julia bash sh shell powershell repl interpreter "
	shells    = " bash sh zsh dash ksh shell "
)

func newOperation(name string) *operation {
	words := splitName(name)
	in := func(words []string, list string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(list, " "+w+" ") })
	}
	return &operation{onlyReads: in(words[:min(2, len(words))], readVerbs), runs: in(words, runVerbs), language: in(words, languages), shell: in(words, shells)}
}

// nameKinds are words in the name of an argument that tell its kind.
var nameKinds = map[string]kind{
	"path": filePath, "paths": filePath, "file": filePath, "files": filePath, "filename": filePath, "filepath": filePath,
	"dir": filePath, "directory": filePath, "folder": filePath, "cwd": filePath, "workdir": filePath,
	"command": command, "cmd": command, "commands": command, "script": command, "shell": command, "bash": command, "commandline": command,
	"url": address, "urls": address, "uri": address, "link": address, "href": address, "endpoint": address, "webhook": address,
	"sql": statement, "statement": statement,
}

// workNames are members that name the folder in which a command runs, or to which paths are relative. Those in folderNames may
// be such a folder, or what the tool works on.
var (
	workNames   = setOf("cwd workdir workingdir workingdirectory working_dir working_directory work_dir chdir basedir base_dir basedirectory base_directory root_dir rootdir")
	folderNames = setOf("directory dir folder")
)

// asideNames are further members that do not say what runs, beside a command.
const asideNames = " description explanation reason purpose comment rationale thought thinking summary timeout timeout_ms timeoutms encoding " +
	"session session_id sessionid terminal terminal_id terminalid shell_id shellid user username " +
	"container container_id containerid container_name containername pod namespace connection connection_id connectionid connection_name connectionname "

// languageNames are members that name the language of code.
var languageNames = setOf("language lang interpreter shell runtime")

// Names of members, see [member].
const (
	placeNames   = " target destination dest dst output outfile "
	hostNames    = " host hostname ip address server domain origin "
	codeNames    = " code source source_code sourcecode snippet program cell "
	textNames    = " input text content expression body "
	contentNames = " content text data body markdown html "
)

// kindOf returns the kind of an argument by its name; the last word decides.
func kindOf(name string) kind {
	if k, ok := nameKinds[strings.ToLower(name)]; ok {
		return k
	}
	if strings.IndexFunc(name, func(r rune) bool { return !unicode.IsLower(r) }) < 0 {
		return unspecified // one word
	}
	if words := splitName(name); len(words) > 1 {
		if words[len(words)-1] == "name" && nameKinds[words[len(words)-2]] == filePath { // file_name
			return filePath
		}
		return nameKinds[words[len(words)-1]]
	}
	return unspecified
}

// isArguments reports whether an argument holds the arguments of a command, judging by the last word of its name.
func isArguments(name string) bool {
	words := splitName(name)
	return len(words) > 0 && slices.Contains([]string{"args", "arguments", "argv"}, words[len(words)-1])
}

// splitName returns the words of a name in lower case: file_path, filePath and file-path have two, SSHCommand as well.
func splitName(name string) (words []string) {
	start, last := -1, ' '
	for i, r := range name {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		if start >= 0 && (!letter || unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsUpper(last) && beginsLower(name[i+utf8.RuneLen(r):]))) {
			words = append(words, strings.ToLower(name[start:i]))
			start = -1
		}
		if start < 0 && letter {
			start = i
		}
		last = r
	}
	if start >= 0 {
		words = append(words, strings.ToLower(name[start:]))
	}
	return words
}

// beginsLower reports whether s begins with a small letter that is more than the plural of capitals, as in URLs.
func beginsLower(s string) bool {
	next, n := utf8.DecodeRuneInString(s)
	after, _ := utf8.DecodeRuneInString(s[n:])
	return unicode.IsLower(next) && (next != 's' || unicode.IsLower(after))
}
