package vault

// Reasons that several steps share.
const (
	doubled   = "rows of the kernel's index were doubled"
	lagging   = "the kernel's index lagged behind; that of the vault never does"
	unordered = "came in no order: that of a map, or of ids made within one second"
	others    = "shows what other scenarios left"
	random    = "the name of an export begins with a random number"
	locked    = "the kernel was started with an access code"
	readOnly  = "the kernel was started for reading only"
	noAnswer  = "the kernel was down and gave no answer"
	booting   = "the kernel had been killed and was rebuilding its index"
	danger2   = "danger 2: the kernel loses the file of a document that is brought back to what it is; the vault does nothing"
	danger3   = "danger 3: the kernel destroys a document that is named as the block to put another one at; the vault refuses"
	danger4   = "danger 4: the kernel deletes any file; the vault refuses what is not an asset or template"
	partly    = "a batch that fails leaves nothing behind in the vault; the kernel keeps what came before the bad entry"
	noServer  = "nothing reaches the vault but the program it is part of, so that it has no tokens and looks at no origins"
	noFiles   = "keys, certificates and decks are not files in the vault"
	raised    = "a single ^ or ~ and names of emoji are text in the vault; the kernel reads x^2^, H~2~O and :smile: as raised, lowered text and an emoji"
	sortOwn   = "in sort.json the kernel gives the document of the notebook a number"
)

// excused are the steps whose recorded answer no kernel would give again, or only by chance, with the reason. They do
// not count.
var excused = map[string]string{
	"assets#11":            "names the folder of the recorded kernel's workspace",
	"assets#49":            unordered,
	"assets#52":            unordered,
	"attrs#10":             doubled,
	"auth#17":              locked,
	"auth#18":              locked,
	"auth#20":              locked,
	"auth#31":              locked,
	"auth#33":              locked,
	"auth#35":              readOnly,
	"auth#36":              readOnly,
	"auth#37":              readOnly,
	"av#167":               unordered,
	"av#168":               unordered,
	"blocks#86":            unordered,
	"blocks#88":            unordered,
	"blocks#121":           "deleteBlock answers before the kernel has deleted",
	"blocks_rich#10":       lagging,
	"closed_notebook#41":   lagging,
	"closed_notebook#42":   lagging,
	"export#8":             doubled,
	"export#9":             doubled,
	"export#25":            random,
	"export#26":            random,
	"export#27":            random,
	"export#28":            random,
	"files#58":             "a file made by an endpoint that no tool calls",
	"history_repo#13":      others,
	"history_repo#46":      others,
	"history_repo#61":      "counts the files of other scenarios and names the machine",
	"history_repo#68":      "counts the files of other scenarios and names the machine",
	"history_repo#74":      "counts the files of other scenarios and names the machine",
	"kernel_exit#32":       noAnswer,
	"kernel_exit#33":       noAnswer,
	"kernel_exit#34":       noAnswer,
	"limits#25":            "its request was too long to keep",
	"refs_tags_outline#11": unordered,
	"refs_tags_outline#36": "follows swapBlockRef, which no tool calls",
	"restart#5":            noAnswer,
	"restart#6":            booting,
	"restart#7":            booting,
	"restart#12":           booting,
	"riff#20":              lagging,
	"riff#34":              unordered,
	"riff#70":              lagging,
	"search#26":            unordered,
	"search#82":            others + ", in no order",
	"settings#13":          "follows setSearch, which no tool calls",
	"sql#13":               "the version of SQLite",
	"sql#16":               lagging,
	"sql#24":               doubled,
	"sql#28":               doubled,
	"sql#33":               doubled,
	"sql#62":               lagging,
	"sql#66":               lagging,
	"sql#77":               booting,
	"templates#13":         lagging,
}

// byChance are excused steps whose answer is sometimes the same.
var byChance = map[string]bool{"refs_tags_outline#11": true}

// differing are the steps that the vault answers differently, with the reason. They count as not the same.
var differing = map[string]string{
	"assets#65":            danger4,
	"assets#66":            danger4,
	"assets#67":            danger4,
	"attrs#45":             partly,
	"attrs#47":             partly,
	"auth#3":               noServer,
	"auth#8":               noServer,
	"auth#9":               noServer,
	"auth#12":              noServer,
	"av#106":               "the kernel names the database as it was called when the row was added, the vault as it is called",
	"av#170":               "the text of a database is not content of its block in the vault",
	"blocks#108":           "the kernel writes the marker of an item that was inserted as a paragraph as control characters",
	"blocks_rich#5":        raised,
	"blocks_rich#6":        raised,
	"blocks_rich#7":        raised,
	"blocks_rich#8":        raised,
	"blocks_rich#13":       raised,
	"blocks_rich#18":       raised,
	"blocks_rich#12":       "the kernel counts invisible characters behind tags and keys as length",
	"files#36":             noFiles,
	"files#43":             "a write that is refused leaves nothing behind in the vault",
	"files#72":             "in the vault a file is not a document before upsertIndexes",
	"filetree#85":          "danger 5: the kernel made documents that no listing shows; " + sortOwn,
	"filetree#115":         danger3,
	"filetree#117":         danger3,
	"filetree#118":         danger3,
	"filetree#119":         danger3,
	"history_repo#30":      danger2,
	"history_repo#32":      danger2,
	"history_repo#33":      danger2,
	"kernel_exit#14":       "a notebook is closed at once in the vault; the kernel takes writes for a moment longer",
	"kernel_exit#15":       "a notebook is closed at once in the vault; the kernel takes writes for a moment longer",
	"limits#22":            "a document that is refused leaves no parents behind in the vault",
	"notebook_document#19": "the kernel shows the title from before the notebook was renamed",
	"riff#62":              "the vault counts no cards by notebook",
	"riff#72":              noFiles,
	"samples#8":            raised,
	"samples#25":           sortOwn,
	"samples#29":           raised,
	"sql#2":                "the tables of the kernel for full text and embeddings are its own",
	"system#7":             "the configuration names the machine, its tokens and counts",
	"system#46":            noServer,
	"templates#41":         danger4,
}

// unsent are the steps in scope that are not replayed, because the vault would do something else than the kernel did,
// and later steps build on that.
var unsent = map[string]string{
	"history_repo#33": "the kernel cannot remove the document, whose file it has lost; the vault could",
}
