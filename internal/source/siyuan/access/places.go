package access

// ConfigFiles are the tool configs of a workspace, in the order in which they win: our own and
// the public plugin's.
func ConfigFiles() []string { return []string{ownFolder + configFile, pluginFolder + configFile} }

// LevelFiles are the files of levels of a workspace: our own and the public plugin's. Of two that
// list a notebook the lower level counts.
func LevelFiles() []string { return []string{ownFolder + levelsFile, pluginFolder + levelsFile} }
