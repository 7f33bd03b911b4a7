package guide

import "strings"

// Prompt is a workflow that a person can start.
type Prompt struct {
	Name, Title, Description string
	text                     string
}

// Text is the prompt's message for a task, which may be empty.
func (p *Prompt) Text(task string) string {
	if task = strings.TrimSpace(task); task == "" {
		return p.text
	}
	return p.text + "\n\nThe task: " + task
}

// Prompts are the prompts in order.
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
