"""Pictures, tables and a page of what results files hold. See results/plot.py."""
