package api

import (
	"strconv"

	"collie/internal/vault/workspace"
)

// settings is the kind of records for values that a call sets in SiYuan's configuration. Their ids are the paths of
// these values.
const settings = "setting"

// tagSort is the path of the order of tags.
const tagSort = "tag.sort"

// TagSort returns conf.tag.sort, the order in which tags were last listed; 0 if they never were.
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

// SetTagSort stores the order in which tags are listed. The route must be a Write or a [Mux.ReadFirst]. The latter is
// better, since most calls do not change the order.
func SetTagSort(tx *workspace.Tx, order int) {
	if order != TagSort(tx) && NeedWrite(tx) {
		tx.PutRecord(workspace.Record{Kind: settings, ID: tagSort, Body: []byte(strconv.Itoa(order))})
	}
}
