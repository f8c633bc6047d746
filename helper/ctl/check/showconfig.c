/*
 * gpuhelperctl show-config: prints each key of the settings and policies in force with its value, defaults included, as
 * «sshd -T» does.  Reads the files as the helper does, with its caller's rights.
 */
#include "../../gpu/extraword.h"
#include "../configload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../gpu/extranode.h"
#include "../../judge/token.h"
#include "../explain/claimsjson.h"
#include "../../policy/gpurule.h"

static void
put_list(json_t *j, const char *key, const struct strlist *l)
{
	json_object_set_new(j, key, strings_json(l));
}

static void
put_number(json_t *j, const char *key, unsigned value)
{
	json_object_set_new(j, key, json_integer(value));
}

static void
put_bool(json_t *j, const char *key, bool value)
{
	json_object_set_new(j, key, json_boolean(value));
}

static json_t *
issuer_json(const struct issuer_setting *i)
{
	const struct issuer_claims *c = &i->claims;
	json_t *j = json_object();

	put_text(j, "url", i->url);
	put_text(j, "audience", i->audience);
	put_text(j, "keys", i->keys);
	put_text(j, "keys_host", i->keys_host);
	put_number(j, "max_age", i->max_age);
	put_number(j, "keys_max_age", i->keys_max_age);
	put_text(j, "token_reuse", i->token_reuse ? "allow" : "deny");
	put_text(j, "token_variable", i->variable != NULL ? i->variable : "GPUHELPER_TOKEN");
	put_number(j, "token_bytes", (unsigned)token_bytes(c));
	put_text(j, "team", c->team != NULL || c->pipeline != NULL ? c->team : "team");
	put_text(j, "pipeline", c->pipeline != NULL ? c->pipeline : "pipeline");
	put_text(j, "job", c->job != NULL ? c->job : "job");
	json_object_set_new(j, "require", claims_json(&c->require));
	put_text(j, "reuse_by", c->reuse_by);
	return j;
}

/* The words are those of gpuhelper.conf(5). */
static json_t *
shares_json(const struct strlist *shares)
{
	json_t *j = json_object();
	const char *is;
	size_t i;

	for (i = 0; i < shares->n; i++) {
		is = strrchr(shares->v[i], '=');
		json_object_setn_new(j, shares->v[i], (size_t)(is - shares->v[i]), json_integer(atoi(is + 1)));
	}
	return j;
}

static json_t *
settings_json(const struct settings *s)
{
	static const char *const privileged[] = { "deny", "hide-gpus", "allow" };
	static const char *const driver_files[] = { "auto", "cdi", "none", "vendor-runtime" };
	static const char *const door[] = { "auto", "socket", "setuid" };
	static const char *const idle[] = { "give-back", "stop", "keep" };
	json_t *j = json_object(), *issuers = json_array();
	size_t i;

	put_text(j, "runtime", s->runtime);
	put_list(j, "volumes", &s->volumes);
	put_text(j, "privileged", privileged[s->privileged]);
	put_text(j, "driver_files", driver_files[s->driver_files]);
	put_text(j, "cdi_hooks", s->cdi_hooks ? "allow" : "deny");
	put_bool(j, "respect_allocation", s->respect_allocation);
	put_text(j, "door", door[s->door]);
	put_bool(j, "grant_unasked", s->grant_unasked);
	put_bool(j, "allow_integrated", s->allow_integrated);
	put_text(j, "unenforced", s->unenforced ? "allow" : "deny");
	put_number(j, "max_wait", s->max_wait);
	put_list(j, "placeholder_init", &s->placeholder_init);
	put_text(j, "idle", idle[s->idle]);
	put_list(j, "task_execs", &s->task_execs);
	if (s->left_behind == LEFT_BEHIND_KEEP)
		put_text(j, "left_behind", "keep");
	else
		put_number(j, "left_behind", s->left_behind);
	json_object_set_new(j, "audit", json_pack("{s:b}", "plain", s->audit_plain));
	json_object_set_new(j, "selinux", json_pack("{s:s}", "plain", s->plain_container ? "container_t" : "keep"));
	for (i = 0; i < s->issuers; i++)
		json_array_append_new(issuers, issuer_json(&s->issuer[i]));
	json_object_set_new(j, "issuers", issuers);
	json_object_set_new(j, "team_shares", shares_json(&s->team_shares));
	return j;
}

static json_t *
extra_names(const struct gpu_rule *r)
{
	json_t *list = json_array();
	unsigned bit;

	for (bit = 1; bit != 0 && bit <= r->nodes; bit <<= 1)
		if (bit == EXTRA_IMEX && r->one_channel)
			json_array_append_new(list, json_sprintf("imex=%u", r->channel));
		else if ((r->nodes & bit) != 0)
			json_array_append_new(list, json_string(extra_word_name(bit)));
	return list;
}

static json_t *
gpu_rule_json(const struct gpu_rule *r)
{
	json_t *j = json_object();

	if (r->has_vendor || r->kind != NULL)
		put_text(j, "vendor", gpu_rule_vendor(r));
	if (r->devices.n > 0)
		put_list(j, "devices", &r->devices);
	else
		json_object_set_new(j, "devices", json_pack("[s]", "all"));
	put_number(j, "count", r->count);
	put_text(j, "sharing", r->sharing == SHARING_SHARED ? "shared" : "exclusive");
	if (r->sharing == SHARING_SHARED)
		put_number(j, "share_limit", r->share_limit);
	put_number(j, "wait", r->wait);
	json_object_set_new(j, "capabilities", capability_names(r->capabilities));
	put_text(j, "mig", r->whole_mig ? "whole" : "instances");
	put_bool(j, "mps", r->mps);
	json_object_set_new(j, "nodes", extra_names(r));
	return j;
}

static json_t *
folder_rule_json(const struct folder_rule *r)
{
	json_t *j = json_object();

	put_text(j, "path", r->path);
	put_text(j, "access", r->writable ? "rw" : "ro");
	put_text(j, "target", r->target);
	put_bool(j, "subfolders", r->subfolders);
	put_bool(j, "submounts", r->submounts);
	put_text(j, "relabel", relabel_name(r->relabel));
	return j;
}

/* Adds the keys that say which containers the policy covers. */
static void
put_covered(json_t *j, const struct policy *p)
{
	json_t *vars = json_object();
	char pipeline[600];
	size_t i;

	put_text(j, "identity", identity_name(p->identity));
	put_text(j, "issuer", p->issuer);
	if (p->pipeline != NULL) {
		snprintf(pipeline, sizeof(pipeline), "%.290s/%.290s", p->team != NULL ? p->team : "", p->pipeline);
		put_text(j, "pipeline", pipeline);
	}
	if (p->has_jobs)
		put_list(j, "jobs", &p->jobs);
	for (i = 0; i < p->instance_vars.name.n; i++)
		json_object_set_new(vars, p->instance_vars.name.v[i],
		    json_loads(p->instance_vars.value.v[i], JSON_DECODE_ANY, NULL));
	json_object_set_new(j, "instance_vars", vars);
	json_object_set_new(j, "claims", claims_json(&p->claims));
	if (p->has_callers)
		put_list(j, "callers", &p->callers);
	put_bool(j, "privileged", p->privileged);
}

static void
put_quotas(json_t *j, const struct policy *p)
{
	if (p->max_gpus != 0)
		put_number(j, "max_gpus", p->max_gpus);
	if (p->max_waiting != 0)
		put_number(j, "max_waiting", p->max_waiting);
	if (p->gpus > 0)
		put_number(j, "priority", p->priority);
}

/* Adds the keys that say what the policy gives.  Of env only the names: the values are for the container only. */
static void
put_given(json_t *j, const struct policy *p)
{
	json_t *gpus = json_array(), *folders = json_array(), *env = json_array();
	size_t i;

	put_quotas(j, p);
	for (i = 0; i < p->gpus; i++)
		json_array_append_new(gpus, gpu_rule_json(&p->gpu[i]));
	for (i = 0; i < p->folders; i++)
		json_array_append_new(folders, folder_rule_json(&p->folder[i]));
	for (i = 0; i < p->env.n; i++)
		json_array_append_new(env, json_stringn(p->env.v[i], strcspn(p->env.v[i], "=")));
	json_object_set_new(j, "gpus", gpus);
	json_object_set_new(j, "folders", folders);
	json_object_set_new(j, "selinux", json_pack("{s:s?, s:s?}", "type", p->selinux_type, "level", p->selinux_level));
	json_object_set_new(j, "env", env);
}

static json_t *
policy_json(const struct policy_entry *e)
{
	json_t *j = json_object();

	put_text(j, "file", e->policy.name);
	if (e->broken != NULL) {
		put_text(j, "broken", e->broken);
		return j;
	}
	put_covered(j, &e->policy);
	put_given(j, &e->policy);
	return j;
}

/* Prints «FILE KEY[.KEY] VALUE» for each value; prints nothing for an empty list or group. */
static void
say_value(const char *file, const char *key, const json_t *value)
{
	autofree char *text = NULL;
	const json_t *item;
	const char *name;
	char path[300];
	size_t i;

	if (json_is_object(value)) {
		json_object_foreach((json_t *)(uintptr_t)value, name, item) {
			snprintf(path, sizeof(path), "%.140s%s%.140s", key, *key != '\0' ? "." : "", name);
			say_value(file, path, item);
		}
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, item) {
			snprintf(path, sizeof(path), "%.270s[%zu]", key, i);
			say_value(file, path, item);
		}
	} else if (!json_is_null(value) && (text = json_dumps(value, JSON_ENCODE_ANY)) != NULL)
		say("%s %s %s", file, key, text);
}

static void
say_all(const json_t *settings, const json_t *policies)
{
	const json_t *p;
	size_t i;

	say_value("gpuhelper.conf", "", settings);
	json_array_foreach(policies, i, p) {
		json_t *rest = json_copy((json_t *)(uintptr_t)p);

		json_object_del(rest, "file");
		say_value(json_string_value(json_object_get(p, "file")), "", rest);
		json_decref(rest);
	}
}

int
ctl_show_config(const struct options *o)
{
	autoconfig struct config config = { 0 };
	json_t *s, *list = json_array();
	struct why why;
	size_t i;
	int ret;

	if ((ret = config_load(o, &config, &why)) == 0) {
		s = settings_json(&config.settings);
		for (i = 0; i < config.policies.n; i++)
			json_array_append_new(list, policy_json(&config.policies.v[i]));
		if (o->json)
			put_out(json_pack("{s:O, s:O}", "settings", s, "policies", list));
		else
			say_all(s, list);
		json_decref(s);
	}
	json_decref(list);
	return ret == 0 ? 0 : give_up(o, &why);
}
