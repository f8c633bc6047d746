/* An empty program of the same C library, linked as the wrapper is: what it costs to start one. */
int
main(void)
{
	return 0;
}
