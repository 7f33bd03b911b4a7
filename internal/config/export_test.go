package config

// Edit is the function behind [Config.Edit].
var Edit = editFile
