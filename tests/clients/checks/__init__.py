"""What is checked of each client, one module a client: functions that take a Ground and raise if it is not so."""
