package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTableHasEachCodeWithMinorUnitsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list-one.xml")
	const list = `<ISO_4217 Pblshd="2026-01-01"><CcyTbl>
		<CcyNtry><CtryNm>GERMANY</CtryNm><Ccy>EUR</Ccy><CcyMnrUnts>2</CcyMnrUnts></CcyNtry>
		<CcyNtry><CtryNm>FRANCE</CtryNm><Ccy>EUR</Ccy><CcyMnrUnts>2</CcyMnrUnts></CcyNtry>
		<CcyNtry><CtryNm>CHILE</CtryNm><Ccy>CLF</Ccy><CcyMnrUnts>4</CcyMnrUnts></CcyNtry>
		<CcyNtry><CtryNm>ANTARCTICA</CtryNm></CcyNtry>
		<CcyNtry><CtryNm>ZZ08_Gold</CtryNm><Ccy>XAU</Ccy><CcyMnrUnts>N.A.</CcyMnrUnts></CcyNtry>
	</CcyTbl></ISO_4217>`
	if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := generate(&out, path); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`const Published = "2026-01-01"`, `"CLF4EUR2"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
}

func TestFileThatIsNoListIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.xml")
	if err := os.WriteFile(path, []byte("<html></html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := generate(&strings.Builder{}, path); err == nil {
		t.Error("a page was taken for the list")
	}
}
