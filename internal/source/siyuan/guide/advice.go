package guide

import "strings"

// This file has the texts that models read: instructions, pages of advice and prompts.

// Topic is a page of handwritten advice.
type Topic struct {
	Name, Title, Text string
}

// Topics returns the pages of advice with their names, in order.
func Topics() []Topic {
	return []Topic{
		{"document-path-semantics", "Paths", pathsText},
		{"examples", "Examples", examplesText},
		{"ai-layout-guide", "Which structure for what", layoutText},
		{"write-safety", "Safe writing", safetyText},
	}
}

const pathsText = `# Paths

SiYuan has two kinds of path, and ids.

- **Human path**, for the tool fs: ` + "`/Notebook/Document/Child`" + `. The first part is the name of a notebook. A / in a name is written %2F. Two notebooks of one name are told apart by ` + "`/Name#<notebook id>/…`" + `.
- **hPath**, for document: ` + "`/Document/Child`" + ` within one notebook, without its name.
- **Storage path**: ` + "`/<id>/<id>.sy`" + `, what the files are called. It changes when a document is moved.
- **Id**: 14 digits, a dash, 7 letters or digits. Documents and blocks have one, and it never changes. Where you have an id, use it.

Safe order: fs(action="ls") or search(action="fulltext") to find, document(action="lookup") to get ids, then work with ids.
`

const examplesText = `# Examples

- What is there: fs {"action":"ls","path":"/"}
- Read: fs {"action":"read","path":"/Work/Plan"}; the next window with blockStart from nextWindow
- Write a new document: fs {"action":"write","path":"/Work/Minutes","markdown":"…"}
- Change a sentence: fs {"action":"replace","path":"/Work/Plan","edit":{"old":"May 12","new":"May 13"}}
- Add to a document: block {"action":"append","dataType":"markdown","data":"- one more","parentID":"<document id>"}
- Find: search {"action":"fulltext","query":"invoice"}
- Today's note: block {"action":"add_to_daily_note","notebook":"<id>","dataType":"markdown","data":"…","position":"append"}
- Rows of a database: av {"action":"render","id":"<database id>"}
`

const layoutText = `# Which structure for what

- One topic, one document. A document with children is a folder and a page at once; seven levels are the most.
- Headings give a document its outline; keep paragraphs short, each is a block that can be linked and edited alone.
- Facts of one kind with the same fields (books, tasks, people): a database (av), a row each.
- A link from one note to another: ((<block id> "text")). It makes a backlink; [text](siyuan://blocks/<id>) and footnotes do not.
- Tags (#a/b#) for what cuts across documents; notebooks for what is kept apart, as levels are given by notebook.
- What should be remembered: a flashcard of a paragraph, a list item with its answer below, or a heading with its section.
- What happened today: the daily note, not a new document.
- Pictures and files: file(action="upload_asset"), then ![](assets/…).
`

const safetyText = `# Safe writing

Mode auto, the default: nothing extra is needed. Reads such as fs.read and block.get_kramdown return stateHash; give it back as ifMatch, and a write is refused with state_changed if somebody has changed the target since. Every write has a requestId in its result; the same requestId given again does not write twice. Before it changes or removes something, the old content is kept for seven days: collie siyuan undo REQUEST_ID takes the write back.

Mode strict: a write takes two calls. First with validateOnly:true: nothing is written, and a hash of the state comes back. Then the same arguments with requestId (a UUIDv7 you make) and expectedHash. The hash holds until the state changes: then the write is refused, and you begin again.

After outcome_unknown, read the target before you write again: the write may have happened. After state_changed, read again and decide anew.
`

// Instructions is the advice that every session gets, at most 4 KiB. The rest is available through help.
const Instructions = `SiYuan notes. Tools: fs (human paths, begin here), notebook, document, block, av (databases), file, search, tag, system, flashcard, mascot. Each takes "action"; action="help" topic="<action>" shows one in full, system(action="bootstrap") shows notebooks, levels and switches.

Common arguments: id = block or document id (14 digits-7 letters); notebook = notebook id; path = human path /Notebook/Doc in fs, hPath or storage path elsewhere (siyuan://help/document-path-semantics); page from 1, pageSize; verbose:true = all fields of a result.

Levels per notebook: none (does not exist for you), r read, rw write, rwd also delete and move out. permission_denied says what is needed; a person changes it, so do not try another way round.

Dangerous actions (fs rm, mv; document remove, move, heading_to_doc, doc_to_heading; block delete, move, transfer_references; notebook remove; av remove_rows, remove_column; file upload, rename, delete, remove_unused_assets, extract; search find_replace; tag rename, remove; flashcard remove_card) are confirmed by a person. Refused is refused.

Errors are JSON with type, message and hint; the hint names the next call. outcome_unknown: read before you write again. state_changed: read again.

Writing: stateHash of a read given as ifMatch guards against changes in between. References ((id "text")) make backlinks. Prefer fs.replace or block.update to rewriting a document. /AGENTS.md is your own memory, /USER_RULES.md the person's rules: read them first, rules come before this advice, never before levels and confirmations.`

// Prompt is a workflow that a user can start.
type Prompt struct {
	Name, Title, Description string
	text                     string
}

// Text returns the prompt's message for a task, which may be empty.
func (p *Prompt) Text(task string) string {
	if task = strings.TrimSpace(task); task == "" {
		return p.text
	}
	return p.text + "\n\nThe task: " + task
}

// Prompts returns the prompts in order.
func Prompts() []Prompt {
	return []Prompt{
		{"siyuan_browse_read", "Browse and read notes", "Find your way through the notebooks and read what matters", `Find your way in my SiYuan notes and read.
1. system(action="bootstrap") for notebooks, levels and rules; read /USER_RULES.md and /AGENTS.md with fs.
2. fs(action="tree", path="/<notebook>", maxDepth=2) for the shape, search(action="fulltext") for words.
3. fs(action="read") for a document, window by window (nextWindow); document(action="get_outline") first where it is long.
4. Say which documents you used, by path. Write nothing.`},
		{"siyuan_create_edit", "Create and edit notes", "Write new documents and change existing ones safely", `Create or change notes in my SiYuan.
1. Look first: does a document on this exist? fs(action="search") or search(action="fulltext").
2. New: fs(action="write", path=…, markdown=…). Existing: fs(action="replace") for exact text, block(action="update"|"insert"|"append") for blocks; rewrite a whole document only if I ask for it.
3. Keep attributes, references and databases as they are; complex blocks are changed with their own tools.
4. Give stateHash back as ifMatch when you change what you read. On state_changed read again.
5. Read back what you wrote and tell me where it is.`},
		{"siyuan_search_query", "Search and query notes", "Answer a question from the notes, with SQL where it helps", `Answer from my SiYuan notes.
1. search(action="fulltext") with a few words, then with others; Chinese and English words find different notes.
2. For lists and counts: search(action="query_sql"), one SELECT on blocks, refs, spans, attributes or assets, with LIMIT and DISTINCT.
3. search(action="get_backlinks") shows what points to a block.
4. Quote the notes you used by path and id. Say so where something was filtered out or nothing was found.`},
		{"siyuan_database", "Work with databases", "Read and change rows of a SiYuan database", `Work with a database in my SiYuan.
1. av(action="search", keyword=…) finds it; av(action="render", id=…) shows columns and rows.
2. rowID is the row's own id, not the id of the bound block: take it from render.
3. av(action="add_rows") for rows, av(action="set_cells") for values, each with the value type of its column.
4. Check with render afterwards. Removing rows or columns is confirmed by me.`},
		{"siyuan_daily_note", "Write the daily note", "Add something to today's note", `Add to today's note in my SiYuan.
1. notebook(action="list"); if I named no notebook, take the one whose daily note is used, or ask.
2. block(action="add_to_daily_note", notebook=…, dataType="markdown", data=…, position="append").
3. Short entries with the time in front; link what it is about with ((id "text")).
4. Tell me the path of the note.`},
	}
}
