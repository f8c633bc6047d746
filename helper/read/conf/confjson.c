/* See confjson.h. Computes only. */
#include "confjson.h"

#include "conf.h"

json_t *
conf_json(config_setting_t *s, struct faults *f)
{
	json_t *j = NULL, *item;
	int i;

	switch (config_setting_type(s)) {
	case CONFIG_TYPE_INT:
		return json_integer(config_setting_get_int(s));
	case CONFIG_TYPE_BOOL:
		return json_boolean(config_setting_get_bool(s));
	case CONFIG_TYPE_STRING:
		return json_string(config_setting_get_string(s));
	case CONFIG_TYPE_GROUP:
		j = json_object();
		break;
	case CONFIG_TYPE_ARRAY:
	case CONFIG_TYPE_LIST:
		j = json_array();
		break;
	}
	for (i = 0; j != NULL && i < config_setting_length(s); i++) {
		config_setting_t *e = config_setting_get_elem(s, (unsigned)i);

		item = conf_json(e, f);
		if (json_is_object(j) ? json_object_set_new(j, config_setting_name(e), item) == -1 :
		    json_array_append_new(j, item) == -1)
			fault_add(f, conf_line(e), false, "this value can't be compared");
	}
	return j;
}
