package siyuanapi

// This file has the types of the columns and cells of databases, as they appear in JSON.

// Databases is the workspace folder of databases, which SiYuan calls attribute views.
const Databases = "/data/storage/av"

// DatabasePath returns the file of a database.
func DatabasePath(id string) string { return Databases + "/" + id + ".json" }

// The types of database columns.
const (
	ColumnBlock      = "block" // the primary column
	ColumnText       = "text"
	ColumnNumber     = "number"
	ColumnDate       = "date"
	ColumnSelect     = "select"
	ColumnMSelect    = "mSelect"
	ColumnURL        = "url"
	ColumnEmail      = "email"
	ColumnPhone      = "phone"
	ColumnMAsset     = "mAsset"
	ColumnTemplate   = "template"
	ColumnCreated    = "created"
	ColumnUpdated    = "updated"
	ColumnCheckbox   = "checkbox"
	ColumnRelation   = "relation"
	ColumnRollup     = "rollup"
	ColumnLineNumber = "lineNumber"
)

// Content is the value of a cell with a text, an address, a phone number or a template's result.
type Content struct {
	Content string `json:"content"`
}

// Number is the value of a cell with a number; NotEmpty is false if there is none.
type Number struct {
	Content   float64 `json:"content"`
	NotEmpty  bool    `json:"isNotEmpty"`
	Format    string  `json:"format"`
	Formatted string  `json:"formattedContent"`
}

// Date is one time, or two for a range, in milliseconds since 1970.
type Date struct {
	Content   int64  `json:"content"`
	NotEmpty  bool   `json:"isNotEmpty"`
	HasEnd    bool   `json:"hasEndDate"`
	DateOnly  bool   `json:"isNotTime"`
	Content2  int64  `json:"content2"`
	NotEmpty2 bool   `json:"isNotEmpty2"`
	Formatted string `json:"formattedContent"`
}

// Moment is when a row was created or changed, in milliseconds since 1970.
type Moment struct {
	Content   int64  `json:"content"`
	NotEmpty  bool   `json:"isNotEmpty"`
	Content2  int64  `json:"content2"`
	NotEmpty2 bool   `json:"isNotEmpty2"`
	Formatted string `json:"formattedContent"`
}

// Checkbox is the value of a checkbox.
type Checkbox struct {
	Checked bool `json:"checked"`
}

// Option is one of the options selected in a cell.
type Option struct {
	Content string `json:"content"`
	Color   string `json:"color"`
}

// Asset is a file or image in a cell.
type Asset struct {
	Type    string `json:"type"` // file or image
	Name    string `json:"name"`
	Content string `json:"content"` // its path or address
}
