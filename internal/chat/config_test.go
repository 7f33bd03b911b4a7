package chat_test

import (
	"context"
	"reflect"
	"testing"

	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/store"
)

// newFieldValue returns a value of a type for a field of a config. Different n give different values.
func newFieldValue(t *testing.T, kind reflect.Type, n int) reflect.Value {
	t.Helper()
	v := reflect.New(kind).Elem()
	switch kind.Kind() {
	case reflect.String:
		v.SetString(string(rune('a' + n)))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(100 + n))
	case reflect.Float64:
		v.SetFloat(float64(n) / 4)
	case reflect.Slice:
		v = reflect.Append(v, newFieldValue(t, kind.Elem(), n))
	case reflect.Pointer:
		v.Set(reflect.New(kind.Elem()))
		v.Elem().Set(newFieldValue(t, kind.Elem(), n))
	default:
		t.Fatalf("the test has no values of %s", kind)
	}
	return v
}

// The config of a turn overrides that of its session, which overrides the settings, which override the built-in
// defaults. This applies to each field, so a field that is left out changes nothing.
func TestConfigsGoBeforeEachOther(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), t.TempDir(), chat.Schema())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var settings chat.Config
	ran := make(chan chat.Config, 1)
	service, err := chat.Open(t.Context(), s, chat.Options{
		Defaults: func(string) chat.Config { return settings },
		Engine: func(context.Context, chat.Config, []llm.Part) (string, chat.Engine, error) {
			return "script", engineFunc(func(_ context.Context, turn *chat.Turn, _ chat.Sink) (chat.Outcome, error) {
				ran <- turn.Config
				return chat.Outcome{}, nil
			}), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close(context.Background())
	kind := reflect.TypeFor[chat.Config]()
	for i := range kind.NumField() {
		field := kind.Field(i)
		t.Run(field.Name, func(t *testing.T) {
			want := reflect.ValueOf(chat.Defaults()).Field(i).Interface()
			for layers := range 4 { // how many layers set the field: settings, then session, then turn
				var layer [3]chat.Config
				for n := range layers {
					v := newFieldValue(t, field.Type, n)
					reflect.ValueOf(&layer[n]).Elem().Field(i).Set(v)
					want = v.Interface()
				}
				settings = layer[0]
				session, err := service.Create(t.Context(), chat.NewSession{Config: layer[1]})
				if err != nil {
					t.Fatal(err)
				}
				if _, err = service.Send(t.Context(), session.ID, chat.Draft{Parts: textParts("x")}, chat.TurnOptions{Overrides: layer[2]}); err != nil {
					t.Fatal(err)
				}
				got := reflect.ValueOf(<-ran)
				if !reflect.DeepEqual(got.Field(i).Interface(), want) {
					t.Errorf("%d of them say something: it is %v, want %v", layers, got.Field(i), want)
				}
				for j := range kind.NumField() {
					if def := reflect.ValueOf(chat.Defaults()).Field(j).Interface(); j != i && !reflect.DeepEqual(got.Field(j).Interface(), def) {
						t.Errorf("%s became %v", kind.Field(j).Name, got.Field(j))
					}
				}
			}
		})
	}
}
