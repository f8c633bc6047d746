/* LD_PRELOAD of metrics.py: a program that calls a parser of a library ends. */
#include <stdio.h>
#include <stdlib.h>

#define PARSER(name) void name(void); void name(void) { fprintf(stderr, "parser: %s\n", #name); _Exit(99); }

PARSER(json_loads)
PARSER(json_loadb)
PARSER(json_loadf)
PARSER(json_loadfd)
PARSER(json_load_file)
PARSER(json_load_callback)
PARSER(config_read)
PARSER(config_read_string)
PARSER(config_read_file)
PARSER(yaml_parser_parse)
PARSER(yaml_parser_scan)
PARSER(yaml_parser_load)
