package api

import (
	"strconv"

	"collie/internal/vault/workspace"
)

// settings is the kind of the records that hold what a call leaves in the configuration, by its place in it.
const settings = "setting"

// tagSort is the place of the order of tags.
const tagSort = "tag.sort"

// TagSort returns conf.tag.sort, the order that tags were last listed in; 0 before.
func TagSort(tx *workspace.Tx) int {
	r := tx.Record(settings, tagSort)
	if r == nil {
		return 0
	}
	order, err := strconv.Atoi(string(r.Body))
	if err != nil {
		return 0
	}
	return order
}

// SetTagSort stores the order in which tags are listed. The route must be a Write or a [Mux.ReadFirst]; the latter
// fits, since most calls name the order that is already stored.
func SetTagSort(tx *workspace.Tx, order int) {
	if order != TagSort(tx) && NeedWrite(tx) {
		tx.PutRecord(workspace.Record{Kind: settings, ID: tagSort, Body: []byte(strconv.Itoa(order))})
	}
}
