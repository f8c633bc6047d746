/* See claims.h. */
#include "claims.h"

#include <stdlib.h>

void
token_claims_free(struct token_claims *c)
{
	free(c->team);
	free(c->pipeline);
	free(c->job);
	instance_vars_free(&c->instance_vars);
	claim_set_free(&c->claims);
	*c = (struct token_claims){ 0 };
}
