package kerneltest

import "strings"

// exceptions lists keys that are legal although no recording has them: endpoint, key and reason. A key that ends with
// * stands for all keys with that prefix.
var exceptions = []struct{ endpoint, key, reason string }{
	{"/api/transactions", "transactions[].doOperations[]*", "the keys of a step depend on its action; unknown ones are ignored"},
	{"/api/av/renderAttributeView", "groupPaging*", "its keys are the ids of groups"},
	{"/api/system/getConf", "*", "takes no parameters"},
	{"/api/filetree/heading2Doc", "previousPath", "the document to put it after; nobody tried it"},
	{"/api/sqlite/flushTransaction", "*", "takes no parameters"},
}

// excepted reports whether a key is in the list of exceptions.
func excepted(endpoint, key string) bool {
	for _, e := range exceptions {
		prefix, open := strings.CutSuffix(e.key, "*")
		if e.endpoint == endpoint && (key == e.key || open && strings.HasPrefix(key, prefix)) {
			return true
		}
	}
	return false
}
