/* An empty program, linked like the wrapper: measures the cost of starting one. */
int
main(void)
{
	return 0;
}
