"""What real rounds show that no sample context covers, and how a round becomes one."""
