/* Does nothing, but is linked like gpuhelper-judge, with its libraries: measures the cost of starting such a program. */
#include <jansson.h>
#include <nettle/ecc-curve.h>
#include <nettle/ecdsa.h>

int
main(int argc, char **argv)
{
	struct ecc_point point;

	if (argc > 1000) {
		json_decref(json_loads(argv[1], 0, NULL));
		ecc_point_init(&point, nettle_get_secp_256r1());
		(void)ecdsa_verify(&point, 0, NULL, NULL);
	}
	return 0;
}
