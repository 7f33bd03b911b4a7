package av

import (
	"encoding/json"

	"collie/internal/siyuanapi"
	"collie/internal/vault/api"
	"collie/internal/vault/tree"
)

// This file has the value of a cell, in the form of SiYuan's files.

// value is the value of a cell, in the form and order of the file. Times are Unix milliseconds.
type value struct {
	ID         string              `json:"id,omitempty"`
	KeyID      string              `json:"keyID,omitempty"`
	BlockID    string              `json:"blockID,omitempty"` // id of the row, in spite of the name
	Type       string              `json:"type,omitempty"`
	IsDetached bool                `json:"isDetached,omitempty"`
	CreatedAt  int64               `json:"createdAt,omitempty"`
	UpdatedAt  int64               `json:"updatedAt,omitempty"`
	Block      *valueBlock         `json:"block,omitempty"`
	Text       *siyuanapi.Content  `json:"text,omitempty"`
	Number     *siyuanapi.Number   `json:"number,omitempty"`
	Date       *siyuanapi.Date     `json:"date,omitempty"`
	MSelect    []siyuanapi.Option  `json:"mSelect,omitempty"`
	URL        *siyuanapi.Content  `json:"url,omitempty"`
	Email      *siyuanapi.Content  `json:"email,omitempty"`
	Phone      *siyuanapi.Content  `json:"phone,omitempty"`
	MAsset     []siyuanapi.Asset   `json:"mAsset,omitempty"`
	Template   *siyuanapi.Content  `json:"template,omitempty"`
	Created    *siyuanapi.Moment   `json:"created,omitempty"`
	Updated    *siyuanapi.Moment   `json:"updated,omitempty"`
	Checkbox   *siyuanapi.Checkbox `json:"checkbox,omitempty"`
	Relation   *valueRelation      `json:"relation,omitempty"`
	Rollup     *valueRollup        `json:"rollup,omitempty"`
}

type valueBlock struct {
	ID      string `json:"id,omitempty"` // "" in a detached row
	Icon    string `json:"icon,omitempty"`
	Content string `json:"content"`
	Created int64  `json:"created"`
	Updated int64  `json:"updated"`
}

type valueRelation struct {
	BlockIDs []string `json:"blockIDs"` // rows of the other database
	Contents []*value `json:"contents"` // their primary values; set when rendered
}

type valueRollup struct {
	Contents []*value `json:"contents"`
}

// encode returns the JSON of a value. It never fails.
func (v *value) encode() json.RawMessage { return api.MustJSON(v) }

// untouchedValue returns the value of a cell that nobody has touched. Its id and times are derived from the row, so
// that they are always the same.
func untouchedValue(c *column, row string) *value {
	created := tree.IDTime(row)
	v := &value{ID: tree.DerivedID(row, c.id()), KeyID: c.id(), BlockID: row, Type: c.kind()}
	switch c.kind() {
	case siyuanapi.ColumnTemplate, siyuanapi.ColumnCreated, siyuanapi.ColumnUpdated:
	default:
		if !created.IsZero() {
			v.CreatedAt, v.UpdatedAt = created.UnixMilli(), created.UnixMilli()
		}
	}
	return v
}

// complete adds the member that belongs to the type of a value, if it is missing.
func (v *value) complete() {
	switch v.Type {
	case siyuanapi.ColumnBlock:
		ensure(&v.Block)
	case siyuanapi.ColumnText:
		ensure(&v.Text)
	case siyuanapi.ColumnNumber:
		ensure(&v.Number)
	case siyuanapi.ColumnDate:
		if v.Date == nil {
			v.Date = &siyuanapi.Date{DateOnly: true}
		}
	case siyuanapi.ColumnURL:
		ensure(&v.URL)
	case siyuanapi.ColumnEmail:
		ensure(&v.Email)
	case siyuanapi.ColumnPhone:
		ensure(&v.Phone)
	case siyuanapi.ColumnCheckbox:
		ensure(&v.Checkbox)
	case siyuanapi.ColumnRelation:
		ensure(&v.Relation)
	}
}

// ensure sets a pointer to a new zero value if it is nil.
func ensure[T any](at **T) {
	if *at == nil {
		*at = new(T)
	}
}
