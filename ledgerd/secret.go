package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// secretAnnotation marks a flag that has a twin, its name with -file, which names a file that holds the value.
const secretAnnotation = "secret"

// secretFlag adds a secret and its -file. The file is the better way: command lines are seen by others.
func secretFlag(flags *pflag.FlagSet, value *string, name, usage string) {
	flags.StringVar(value, name, "", usage)
	_ = flags.SetAnnotation(name, secretAnnotation, []string{"true"}) // the flag is there: it was added just now
	flags.String(name+"-file", "", "a `file` that holds it")
}

// resolveSecret reads the secret's file where the file was given on a higher level than the secret itself.
func resolveSecret(secret, file *pflag.Flag, levels map[string]level) error {
	here, there := levels[secret.Name], levels[file.Name]
	switch {
	case there == byDefault || here > there:
		return nil
	case here == there:
		return fmt.Errorf("both %s and %s are given: want one of them", secret.Name, file.Name)
	}
	path := file.Value.String()
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	value := strings.TrimSpace(string(text))
	if value == "" {
		return fmt.Errorf("%s: %s is empty", file.Name, path)
	}
	return secret.Value.Set(value)
}
