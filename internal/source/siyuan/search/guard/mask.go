package guard

import (
	"fmt"
	"slices"
	"strings"
)

// bound are the attributes of a block that say which databases it is a row of: their ids, and their names.
var bound = []string{"custom-avs", "av-names"}

// masked are the columns of a table where some notebook may not be read, for SELECT. The index holds as the text of a
// database what its rows say, and in the attributes of a block the names of the databases that have it as a row: both
// may be of any notebook, with nothing that tells which (siyuan-tools.md 6.3).
func masked(table string) string {
	names := slices.Clone(columns(table))
	if !slices.Contains(names, "fcontent") {
		return "*"
	}
	for i, name := range names {
		switch name {
		case "content":
			names[i] = "CASE type WHEN 'av' THEN '' ELSE content END AS content"
		case "fcontent": // what a container begins with
			names[i] = "CASE WHEN instr(markdown, 'NodeAttributeView') > 0 THEN '' ELSE fcontent END AS fcontent"
		case "ial":
			names[i] = fmt.Sprintf(`CASE WHEN instr(ial, ' %s="') + instr(ial, ' %s="') > 0 THEN '{: id="' || id || '"}' ELSE ial END AS ial`, bound[0], bound[1])
		}
	}
	return strings.Join(names, ", ")
}
