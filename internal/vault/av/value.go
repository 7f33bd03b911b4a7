package av

import (
	"encoding/json"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
)

// value is the value of a cell, in the form and order of the file. Times are Unix milliseconds.
type value struct {
	ID         string         `json:"id,omitempty"`
	KeyID      string         `json:"keyID,omitempty"`
	BlockID    string         `json:"blockID,omitempty"` // of the row, whatever the name says
	Type       string         `json:"type,omitempty"`
	IsDetached bool           `json:"isDetached,omitempty"`
	CreatedAt  int64          `json:"createdAt,omitempty"`
	UpdatedAt  int64          `json:"updatedAt,omitempty"`
	Block      *valueBlock    `json:"block,omitempty"`
	Text       *valueText     `json:"text,omitempty"`
	Number     *valueNumber   `json:"number,omitempty"`
	Date       *valueDate     `json:"date,omitempty"`
	MSelect    []valueSelect  `json:"mSelect,omitempty"`
	URL        *valueText     `json:"url,omitempty"`
	Email      *valueText     `json:"email,omitempty"`
	Phone      *valueText     `json:"phone,omitempty"`
	MAsset     []valueAsset   `json:"mAsset,omitempty"`
	Template   *valueText     `json:"template,omitempty"`
	Created    *valueTime     `json:"created,omitempty"`
	Updated    *valueTime     `json:"updated,omitempty"`
	Checkbox   *valueCheckbox `json:"checkbox,omitempty"`
	Relation   *valueRelation `json:"relation,omitempty"`
	Rollup     *valueRollup   `json:"rollup,omitempty"`
}

type valueBlock struct {
	ID      string `json:"id,omitempty"` // none in a detached row
	Icon    string `json:"icon,omitempty"`
	Content string `json:"content"`
	Created int64  `json:"created"`
	Updated int64  `json:"updated"`
}

type valueText struct {
	Content string `json:"content"`
}

type valueNumber struct {
	Content          float64 `json:"content"`
	IsNotEmpty       bool    `json:"isNotEmpty"`
	Format           string  `json:"format"`
	FormattedContent string  `json:"formattedContent"`
}

type valueDate struct {
	Content          int64  `json:"content"`
	IsNotEmpty       bool   `json:"isNotEmpty"`
	HasEndDate       bool   `json:"hasEndDate"`
	IsNotTime        bool   `json:"isNotTime"`
	Content2         int64  `json:"content2"`
	IsNotEmpty2      bool   `json:"isNotEmpty2"`
	FormattedContent string `json:"formattedContent"`
}

type valueTime struct {
	Content          int64  `json:"content"`
	IsNotEmpty       bool   `json:"isNotEmpty"`
	Content2         int64  `json:"content2"`
	IsNotEmpty2      bool   `json:"isNotEmpty2"`
	FormattedContent string `json:"formattedContent"`
}

type valueSelect struct {
	Content string `json:"content"`
	Color   string `json:"color"`
}

type valueAsset struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Content string `json:"content"`
}

type valueCheckbox struct {
	Checked bool `json:"checked"`
}

type valueRelation struct {
	BlockIDs []string `json:"blockIDs"` // rows of the other database
	Contents []*value `json:"contents"` // their primary values, in what is rendered
}

type valueRollup struct {
	Contents []*value `json:"contents"`
}

// encode writes a value; it holds nothing that cannot be written.
func (v *value) encode() json.RawMessage { return api.MustJSON(v) }

// untouched is what a cell shows that nobody has touched. Its id and times come from the row, so that they are
// the same each time it is shown.
func untouched(c *column, row string) *value {
	made := tree.IDTime(row)
	v := &value{ID: tree.DerivedID(row, c.id()), KeyID: c.id(), BlockID: row, Type: c.kind()}
	switch c.kind() {
	case kindTemplate, kindCreated, kindUpdated:
	default:
		if !made.IsZero() {
			v.CreatedAt, v.UpdatedAt = made.UnixMilli(), made.UnixMilli()
		}
	}
	return v
}

// complete gives a value the member its type stands for.
func (v *value) complete() {
	switch v.Type {
	case kindBlock:
		need(&v.Block)
	case kindText:
		need(&v.Text)
	case kindNumber:
		need(&v.Number)
	case kindDate:
		if v.Date == nil {
			v.Date = &valueDate{IsNotTime: true}
		}
	case kindURL:
		need(&v.URL)
	case kindEmail:
		need(&v.Email)
	case kindPhone:
		need(&v.Phone)
	case kindCheckbox:
		need(&v.Checkbox)
	case kindRelation:
		need(&v.Relation)
	}
}

func need[T any](at **T) {
	if *at == nil {
		*at = new(T)
	}
}
