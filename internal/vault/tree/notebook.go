package tree

// Notebook is one notebook, open or closed.
type Notebook struct {
	ID   string
	Conf Conf
}

// Conf is the content of data/<notebook>/.siyuan/conf.json.
type Conf struct {
	Name                  string  `json:"name"`
	Sort                  int     `json:"sort"`
	Icon                  string  `json:"icon"`
	Closed                bool    `json:"closed"`
	RefCreateSaveBox      string  `json:"refCreateSaveBox"`
	RefCreateSavePath     string  `json:"refCreateSavePath"`
	DocCreateSaveBox      string  `json:"docCreateSaveBox"`
	DocCreateSavePath     string  `json:"docCreateSavePath"`
	DailyNoteSavePath     string  `json:"dailyNoteSavePath"`
	DailyNoteTemplatePath string  `json:"dailyNoteTemplatePath"`
	SortMode              int     `json:"sortMode"`
	Encrypted             bool    `json:"encrypted"`
	BoxCrypt              *string `json:"boxCrypt"`
}

// NewConf returns the configuration of a new notebook.
func NewConf(name string) Conf {
	return Conf{
		Name: name, SortMode: 15,
		DailyNoteSavePath: `/daily note/{{now | date "2006/01"}}/{{now | date "2006-01-02"}}`,
	}
}
