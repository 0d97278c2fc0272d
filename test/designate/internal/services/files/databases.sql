CREATE DATABASE designate CHARACTER SET utf8 COLLATE utf8_general_ci;
CREATE DATABASE keystone CHARACTER SET utf8 COLLATE utf8_general_ci;
CREATE USER openstack@127.0.0.1 IDENTIFIED BY 'openstack';
GRANT ALL ON designate.* TO openstack@127.0.0.1;
GRANT ALL ON keystone.* TO openstack@127.0.0.1;
