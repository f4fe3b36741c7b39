package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// needed is what the role that serves may do, beside USAGE on the schema; the README grants the same.
var needed = []struct{ object, privileges string }{
	{"records", "SELECT,INSERT,UPDATE,DELETE"}, {"results", "SELECT,INSERT,UPDATE,DELETE"},
	{"entries", "SELECT,INSERT,UPDATE,DELETE"}, {"settings", "SELECT,INSERT,UPDATE,DELETE"},
	{"clock", "SELECT,UPDATE"}, {"migrations", "SELECT"}, {"versions", "SELECT,USAGE"},
}

// toReset is what Reset needs besides.
var toReset = []struct{ object, privileges string }{{"records", "TRUNCATE"}, {"results", "TRUNCATE"}, {"entries", "TRUNCATE"}}

// lackingSQL gives the role, and the statements that grant it what it lacks of $2 (objects) and $3 (their privileges).
const lackingSQL = `SELECT current_user::text, ARRAY(
	SELECT format('GRANT %s ON %s %I.%I TO %I', p, CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, $1::text, o, current_user)
	FROM unnest($2::text[], $3::text[]) AS n (o, list) CROSS JOIN unnest(string_to_array(list, ',')) AS p
	JOIN pg_class c ON c.relname = o AND c.relnamespace = to_regnamespace($1::text)::oid
	WHERE NOT CASE c.relkind WHEN 'S' THEN has_sequence_privilege(c.oid, p) ELSE has_table_privilege(c.oid, p) END)`

// checkPrivileges names every privilege that the role lacks, as the statements that grant them.
func (s *Store) checkPrivileges(ctx context.Context, c querier) error {
	needed := needed
	if s.options.Reset {
		needed = append(slices.Clip(needed), toReset...)
	}
	objects, lists := make([]string, len(needed)), make([]string, len(needed))
	for i, n := range needed {
		objects[i], lists[i] = n.object, n.privileges
	}
	var role string
	var lacking []string
	if err := c.QueryRow(ctx, lackingSQL, s.schema, objects, lists).Scan(&role, &lacking); err != nil {
		return fmt.Errorf("looking for the role's privileges: %w", err)
	}
	if len(lacking) > 0 {
		return fmt.Errorf("%w: %s may not do all that the store needs. As the owner of the tables: %s", ErrPrivilege, role, strings.Join(lacking, "; "))
	}
	return nil
}

// checkUsage says so where the role may not look into the schema, which the server tells as tables that are not there.
func (s *Store) checkUsage(ctx context.Context, q querier) error {
	var role string
	var may bool
	err := q.QueryRow(ctx, "SELECT current_user::text, has_schema_privilege(to_regnamespace($1::text)::oid, 'USAGE')", s.schema).Scan(&role, &may)
	if err == nil && !may {
		err = fmt.Errorf("%w: %s may not use schema %s. As its owner: GRANT USAGE ON SCHEMA %[3]s TO %[2]s, and what the README of the postgres store names", ErrPrivilege, role, s.schema)
	}
	return err
}
