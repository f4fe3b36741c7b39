package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"
)

// envPrefix begins the environment's names of settings.
const envPrefix = "LEDGERD_"

// level is where a setting was given. A higher one wins.
type level int

const (
	byDefault level = iota
	byFile
	byEnv
	byFlag
)

// loadSettings fills in the flags of a command that the command line does not give: from the environment, else from
// the file. A secret and its -file are one setting (see secretFlag): the higher level wins, and both on one level are
// an error.
func loadSettings(c *cobra.Command, environ []string) error {
	env := map[string]string{}
	for _, pair := range environ {
		if name, value, found := strings.Cut(pair, "="); found && strings.HasPrefix(name, envPrefix) {
			env[name] = value
		}
	}
	path, _ := c.Flags().GetString("config")
	if path == "" {
		path = env[envName("config")]
	}
	file, err := readSettings(path, settingNames(c.Root()))
	if err != nil {
		return err
	}
	levels := map[string]level{}
	wrong := unknownNames(env, settingNames(c.Root()))
	c.Flags().VisitAll(func(f *pflag.Flag) {
		name := settingOf(f)
		if name == "" {
			return
		}
		value, inEnv := env[envName(name)]
		node, inFile := file[name]
		switch {
		case f.Changed:
			levels[f.Name] = byFlag
		case inEnv:
			levels[f.Name] = byEnv
			if err := f.Value.Set(value); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", envName(name), valueError(f, value, err)))
			}
		case inFile:
			levels[f.Name] = byFile
			if err := setFromFile(f, node); err != nil {
				wrong = append(wrong, fmt.Errorf("%s, line %d: %s: %w", path, node.Line, name, err))
			}
		}
	})
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if fileFlag := c.Flags().Lookup(f.Name + "-file"); fileFlag != nil && f.Annotations[secretAnnotation] != nil {
			wrong = append(wrong, resolveSecret(f, fileFlag, levels))
		}
	})
	return errors.Join(wrong...)
}

// unknownNames names the variables that look like settings and are none: one that is misspelt would leave its setting
// at the default without a word. Kubernetes puts the addresses of services into the environment; those of a service
// that is named ledgerd look alike.
func unknownNames(env map[string]string, known []string) (wrong []error) {
	names := []string{envName("config")}
	for _, setting := range known {
		names = append(names, envName(setting))
	}
	for _, name := range sortedKeys(env) {
		address := strings.Contains(name, "_SERVICE_") || strings.Contains(name, "_PORT_") || strings.HasSuffix(name, "_PORT")
		if !address && !slices.Contains(names, name) {
			wrong = append(wrong, fmt.Errorf("%s is in the environment, but there is no such setting; there are %s", name, strings.Join(names, ", ")))
		}
	}
	return wrong
}

// envName gives the environment's name of a setting: data-dir is LEDGERD_DATA_DIR.
func envName(setting string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(setting, "-", "_"))
}

// settingAnnotation gives a flag another name as a setting, or none: what is said anew with every command, such as the
// reason of an answer, is no setting.
const settingAnnotation = "setting"

func settingOf(f *pflag.Flag) string {
	if other, there := f.Annotations[settingAnnotation]; there {
		return other[0]
	}
	if f.Name == "config" || f.Name == "help" {
		return ""
	}
	return f.Name
}

// arguments marks all flags of a set as no settings.
func arguments(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		_ = flags.SetAnnotation(f.Name, settingAnnotation, []string{""}) // the flag is there: it is visited
	})
}

// settingNames gives every setting of every command: one file serves them all.
func settingNames(root *cobra.Command) []string {
	names := map[string]bool{}
	note := func(f *pflag.Flag) { names[settingOf(f)] = true }
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.Flags().VisitAll(note)
		c.PersistentFlags().VisitAll(note)
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
	delete(names, "")
	var sorted []string
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return sorted
}

// readSettings reads the settings file: one mapping from names to values or lists of values.
func readSettings(path string, known []string) (map[string]*yaml.Node, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("settings file: %w", err)
	}
	if empty(text) {
		return nil, nil // it sets nothing
	}
	var doc yaml.Node
	if err := yaml.Load(text, &doc); err != nil {
		return nil, fmt.Errorf("settings file %s: %w", path, err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return nil, nil // it sets nothing
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("settings file %s: want a mapping of settings to values, such as `data-dir: /var/lib/ledgerd`", path)
	}
	values := map[string]*yaml.Node{}
	var wrong []error
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		_, twice := values[key.Value]
		switch {
		case !slices.Contains(known, key.Value):
			wrong = append(wrong, fmt.Errorf("settings file %s, line %d: there is no setting %q; there are: %s", path, key.Line, key.Value, strings.Join(known, ", ")))
		case twice:
			wrong = append(wrong, fmt.Errorf("settings file %s, line %d: %s is there twice", path, key.Line, key.Value))
		}
		values[key.Value] = value
	}
	return values, errors.Join(wrong...)
}

func setFromFile(f *pflag.Flag, node *yaml.Node) error {
	if list, ok := f.Value.(pflag.SliceValue); ok && node.Kind == yaml.SequenceNode {
		var items []string
		for _, item := range node.Content {
			if item.Kind != yaml.ScalarNode {
				return errors.New("want a list of plain values")
			}
			items = append(items, item.Value)
		}
		return list.Replace(items)
	}
	if node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
		return fmt.Errorf("want one value (%s)", f.Value.Type())
	}
	if err := f.Value.Set(node.Value); err != nil {
		return valueError(f, node.Value, err)
	}
	return nil
}

// empty says whether a settings file has nothing but comments and blank lines.
func empty(text []byte) bool {
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")); line != "" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

// valueError says what is wrong with a setting's value, and what would have been right.
func valueError(f *pflag.Flag, value string, err error) error {
	var want string
	switch f.Value.Type() {
	case "int", "int64":
		want = "want a whole number"
		if errors.Is(err, strconv.ErrRange) {
			want += " that is not as large as that"
		}
	case "duration":
		want = "want a duration with its unit"
	case "bool":
		return fmt.Errorf("%q: want true or false", value)
	default:
		return fmt.Errorf("%q: %w", value, err)
	}
	if f.DefValue != "0" && f.DefValue != "0s" {
		want += ", such as " + f.DefValue
	}
	return fmt.Errorf("%q: %s", value, want)
}

// flagError is what is wrong with the command line, in the words that the other places of settings have.
func flagError(_ *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		err = fmt.Errorf("--%s %w", invalid.GetFlag().Name, valueError(invalid.GetFlag(), invalid.GetValue(), errors.Unwrap(invalid)))
	}
	return usageError{err}
}
