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
	value, err := readSecret(file.Name, path)
	if err != nil {
		return err
	}
	secret.Annotations[fromAnnotation] = []string{path}
	return secret.Value.Set(value)
}

// fromAnnotation has the file that a secret's value was read from.
const fromAnnotation = "from"

// secretFile gives the file that a secret was read from; empty where its value was given by itself, or not at all.
func secretFile(flags *pflag.FlagSet, name string) string {
	if from := flags.Lookup(name).Annotations[fromAnnotation]; len(from) > 0 {
		return from[0]
	}
	return ""
}

// readSecret reads a secret's file, which the setting names.
func readSecret(setting, path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", setting, err)
	}
	value := strings.TrimSpace(string(text))
	if value == "" {
		return "", fmt.Errorf("%s: %s is empty", setting, path)
	}
	return value, nil
}
