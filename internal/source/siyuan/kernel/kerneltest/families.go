package kerneltest

import (
	"maps"
	"slices"
)

// families lists every group of endpoints the fake answers. A group is a function in a file of its own that calls
// [Kernel.handle] once for each of its routes, and [Kernel.handleOperation] for its actions of /api/transactions. It
// runs while the kernel is built, before the first request, so it needs no lock.
//
// A handler runs with the workspace locked. It reads its parameters through the methods of request: those of the old
// handlers (str, strs, flag, list, object, id), which panic like the kernel's on a key that is missing, and the need*
// methods, which answer "Field [x] is required". It finds what it is about with openNotebook, openDocument, openBlock
// and documentAt, files in k.files, and answers with ok, done, fail, notice or file. What a family keeps for itself
// belongs in a struct of its own that the group function makes and its handlers close over. Endpoints whose name does
// not tell whether they change something go into the table in calls.go.
var families = []func(*Kernel){
	systemFamily,
	notebookFamily,
	filetreeFamily,
	documentFamily,
	dailyNoteFamily,
	blockFamily,
	blockInfoFamily,
	attributeFamily,
	transactionFamily,
	sqlFamily,
	outlineFamily,
	exportFamily,
	fileFamily,
	syFamily,
	assetFamily,
	templateFamily,
	resourceFamily,
	avFamily,
	luteFamily,
	riffFamily,
	historyFamily,
	repoFamily,
	notificationFamily,
	searchFamily,
	refFamily,
	tagFamily,
}

// Endpoints returns the endpoints the fake answers, in order.
func Endpoints() []string {
	k := &Kernel{routes: map[string]handler{}, operations: map[string]operation{}}
	for _, family := range families {
		family(k)
	}
	return slices.Sorted(maps.Keys(k.routes))
}
